/** What a process has opened, to be closed at its end in the opposite order. */

type Close = () => Promise<void> | void | undefined;

export class Closers {
  readonly #all: Close[] = [];

  add(close: Close): void {
    this.#all.push(close);
  }

  /** Closes it at the end; gives it back. */
  keep<Part extends { close(): Promise<void> | void }>(part: Part): Part {
    this.add(() => part.close());
    return part;
  }

  /** Writes what is left in it at the end; gives it back. */
  keepFlushed<Part extends { flush(): Promise<void> | void }>(part: Part): Part {
    this.add(() => part.flush());
    return part;
  }

  /** Runs a start; where it fails, what it has opened is closed. */
  async starting<Started>(start: () => Promise<Started>): Promise<Started> {
    try {
      return await start();
    } catch (error) {
      await this.closeAll();
      throw error;
    }
  }

  async closeAll(): Promise<void> {
    for (const close of this.#all.splice(0).reverse()) await close();
  }
}
