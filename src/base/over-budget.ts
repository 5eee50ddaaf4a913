/**
 * Chooses the answer that may go on although the budget is full. An answer that its vendor bills is never refused, however long it gets:
 * its connection pauses until there is room. If all paused, there would never be room, so one at a time goes on without.
 */

export class OverBudget<Holder> {
  readonly #hasRoom: () => boolean;
  #exempt: Holder | undefined;
  /** In the order of their arrival. */
  readonly #waiting = new Map<Holder, () => void>();

  /** `hasRoom`: returns true if waiting holders may go on. */
  constructor(hasRoom: () => boolean) {
    this.#hasRoom = hasRoom;
  }

  /** True if this holder is the one that goes on beyond the budget. */
  isExempt(holder: Holder): boolean {
    return this.#exempt === holder;
  }

  /** Called when there is no room. Returns a promise that resolves when the holder may read on; undefined if it is the one that goes on. */
  wait(holder: Holder): Promise<void> | undefined {
    this.#exempt ??= holder;
    if (this.#exempt === holder) return undefined;
    return new Promise((resolve) => this.#waiting.set(holder, resolve));
  }

  /** Resumes waiting holders while there is room. */
  resumeWaiting(): void {
    // The usual case; called for each body that ends.
    if (this.#waiting.size === 0) return;
    for (const holder of this.#waiting.keys()) {
      if (!this.#hasRoom()) return;
      this.#resume(holder);
    }
  }

  /** The holder has ended: it neither waits nor goes on, so another one may go on beyond the budget. */
  end(holder: Holder): void {
    this.#resume(holder);
    if (this.#exempt !== holder) return;
    [this.#exempt] = this.#waiting.keys();
    if (this.#exempt !== undefined) this.#resume(this.#exempt);
  }

  #resume(holder: Holder): void {
    const resume = this.#waiting.get(holder);
    this.#waiting.delete(holder);
    resume?.();
  }
}
