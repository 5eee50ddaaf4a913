/**
 * The usage that a stream told last. Counts without any output are those of the whole answer only where they were told when it was
 * over. Told before, they are so far: of no use once the answer is over, which is then an estimate (T48).
 */
import type { Usage } from "../base/usage.ts";

export class ToldUsage {
  #usage: Usage | undefined;
  #isToldAtEnd = false;

  /** `isAtEnd`: told when the answer was over. */
  take(usage: Usage | undefined, isAtEnd: boolean): void {
    this.#usage = usage;
    this.#isToldAtEnd = isAtEnd;
  }

  /** Whether the counts are of the answer's start alone. */
  get isSoFar(): boolean {
    return !this.#isToldAtEnd && this.#usage?.outputTokens === 0;
  }

  /** So far, and where the answer is over what was told of all of it. */
  read(isOver: boolean): Usage | undefined {
    return isOver && this.isSoFar ? undefined : this.#usage;
  }
}
