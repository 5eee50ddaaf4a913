/** Questions to the process at the other end of a channel. Answers are matched by number. */

export class Questions<Answer> {
  readonly #asked = new Map<number, (answer: Answer | undefined) => void>();
  #lastId = 0;

  /** Sends a question with its number. Undefined if no answer comes in time. */
  async ask(send: (id: number) => void, msMax: number): Promise<Answer | undefined> {
    const id = (this.#lastId += 1);
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const timer = setTimeout(resolve, msMax, undefined);
    this.#asked.set(id, resolve);
    send(id);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#asked.delete(id);
    }
  }

  answered(id: number, answer: Answer | undefined): void {
    this.#asked.get(id)?.(answer);
  }

  /** Resolves all open questions as unanswered, because the other process has gone. */
  end(): void {
    for (const answer of this.#asked.values()) answer(undefined);
  }
}
