/**
 * What was used in the last minute, in steps of a second: never more than the limit in any sixty seconds, whenever they
 * begin. Pure: the time comes in, in milliseconds of a clock that only goes forward.
 */

const stepMs = 1_000;
/** The step under way, and the minute before it. */
const steps = 61;

export class MinuteWindow {
  readonly #used = new Float64Array(steps);
  #total = 0;
  /** The latest step that was looked at. */
  #step = 0;

  /** What was used in the last minute. */
  used(nowMs: number): number {
    this.#forget(nowMs);
    // A correction may come after what it corrects was forgotten.
    return Math.max(this.#total, 0);
  }

  /** Uses so much, or gives it back where it is negative. */
  add(amount: number, nowMs: number): void {
    this.#forget(nowMs);
    this.#used[this.#step % steps]! += amount;
    this.#total += amount;
  }

  /** How long until no more than `amount` is left of what was used; 0 where that is so now. */
  waitMs(amount: number, nowMs: number): number {
    this.#forget(nowMs);
    let left = this.#total;
    for (let step = this.#step - steps + 1; step <= this.#step && left > amount; step += 1) {
      left -= this.#used[(step + steps) % steps]!;
      if (left <= amount) return (step + steps) * stepMs - nowMs;
    }
    return 0;
  }

  #forget(nowMs: number): void {
    const step = Math.floor(nowMs / stepMs);
    if (step - this.#step >= steps) {
      this.#used.fill(0);
      this.#total = 0;
      this.#step = step;
    }
    while (this.#step < step) {
      this.#step += 1;
      const index = this.#step % steps;
      this.#total -= this.#used[index]!;
      this.#used[index] = 0;
    }
  }
}
