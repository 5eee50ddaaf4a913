/**
 * The last usage that a stream reported. Counts without output cover the whole answer only if they were reported at its end. Reported
 * earlier, they become useless once the answer is over, and its usage is estimated (T48).
 */
import { isObject } from "../base/json.ts";
import { reportedCount, type Usage } from "../base/usage.ts";

/**
 * True if one of these counts is reported and cannot be one: negative, a fraction, no number, or more than any call uses. The call is then
 * charged by an estimate, and its caller reads the same (T51).
 */
export const hasFalseCount = (usage: unknown, names: readonly string[]): boolean =>
  isObject(usage) &&
  names.some((name) => (usage[name] ?? null) !== null && reportedCount(usage[name]) === undefined);

export class ReportedUsage {
  #usage: Usage | undefined;
  #isReportedAtEnd = false;

  /** `isAtEnd`: the answer was over when the usage was reported. */
  take(usage: Usage | undefined, isAtEnd: boolean): void {
    this.#usage = usage;
    this.#isReportedAtEnd = isAtEnd;
  }

  /** True if the counts cover only the start of the answer. */
  get coversStartOnly(): boolean {
    return !this.#isReportedAtEnd && this.#usage?.outputTokens === 0;
  }

  /** Returns the usage so far; once the answer is over, only usage that covers all of it. */
  read(isOver: boolean): Usage | undefined {
    return isOver && this.coversStartOnly ? undefined : this.#usage;
  }
}
