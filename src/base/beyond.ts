/**
 * Who goes on though a budget is full. An answer that its vendor bills is not refused, however long it gets: its connection stands
 * still until there is room. If all stood still there would never be: one at a time goes on without.
 */

export class Beyond<Holder> {
  readonly #hasRoom: () => boolean;
  #one: Holder | undefined;
  /** In the order in which they came. */
  readonly #waiting = new Map<Holder, () => void>();

  /** `hasRoom`: whether whoever waits may go on. */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  /** Whether it is the one that goes on beyond. */
  is(holder: Holder): boolean {
    return this.#one === holder;
  }

  /** There is no room. A promise: the holder, which reads one thing at a time, goes on when it resolves. Absent: it is the one. */
  wait(holder: Holder): Promise<void> | undefined {
    this.#one ??= holder;
    if (this.#one === holder) return undefined;
    return new Promise((resolve) => this.#waiting.set(holder, resolve));
  }

  /** There is more room than there was. */
  look(): void {
    // With each body that ends.
    if (this.#waiting.size === 0) return;
    for (const holder of this.#waiting.keys()) {
      if (!this.#hasRoom()) return;
      this.#resume(holder);
    }
  }

  /** The holder has ended, and waits for nothing. */
  over(holder: Holder): void {
    this.#resume(holder);
    if (this.#one !== holder) return;
    [this.#one] = this.#waiting.keys();
    if (this.#one !== undefined) this.#resume(this.#one);
  }

  #resume(holder: Holder): void {
    const resume = this.#waiting.get(holder);
    this.#waiting.delete(holder);
    resume?.();
  }
}
