/** Resources of a process, closed at its end in reverse order. */

type Close = () => Promise<void> | void | undefined;

export class Closers {
  readonly #all: Close[] = [];

  add(close: Close): void {
    this.#all.push(close);
  }

  /** Registers a part to be closed at the end, and returns it. */
  keep<Part extends { close(): Promise<void> | void }>(part: Part): Part {
    this.add(() => part.close());
    return part;
  }

  /** Registers a part to be flushed at the end, and returns it. */
  flushOnClose<Part extends { flush(): Promise<void> | void }>(part: Part): Part {
    this.add(() => part.flush());
    return part;
  }

  /** Runs a start. If it fails, closes everything opened so far. @throws the start's error, whatever closing fails with */
  async starting<Started>(start: () => Promise<Started>): Promise<Started> {
    try {
      return await start();
    } catch (error) {
      await this.closeAll().catch(() => undefined);
      throw error;
    }
  }

  /** Closes everything, also after a failure: the database that other resources use is the last. @throws the first failure */
  async closeAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#all.splice(0).reverse())
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}
