/**
 * Tracks how long the client of a stream has held it back, and whether the stream ended early because of that. Vendors do not wait
 * forever, and bill the output they made. Such an end is charged as if the client had left. docs/decisions.md "Client disconnect";
 * T62.
 */
import { AttemptFailure } from "../attempts/index.ts";
import { GatewayError } from "../base/errors.ts";
import { endedHere } from "../routing/index.ts";

/** A stream held back by its client for this long at a time may break because of it. */
const patienceMs = 10_000;

/** A client that holds a stream back for this long makes it slower than its provider. */
const noticeableMs = 100;

export class Backpressure {
  /** Start of the current hold, by the monotonic clock; undefined while the stream flows. */
  #since: number | undefined;
  /** The longest hold so far. */
  #longestMs = 0;

  get isNow(): boolean {
    return this.#since !== undefined;
  }

  /** The client stopped reading. */
  begin(): void {
    this.#since ??= performance.now();
  }

  /** The client reads again. */
  end(): void {
    this.#longestMs = this.#msMax();
    this.#since = undefined;
  }

  /**
   * True if the client caused an end that came too early. While a stream is held back, the upstream's close is not seen: it is read
   * only after the remaining data. `isOurEnd`: the call's total timeout ended it.
   */
  causedEarlyEnd(isOurEnd: boolean): boolean {
    return this.#msMax() >= patienceMs || (isOurEnd && this.#since !== undefined);
  }

  /** True if the stream's speed is its client's, not its provider's. */
  get isSlowing(): boolean {
    return this.#msMax() >= noticeableMs;
  }

  #msMax(): number {
    const heldMs = this.#since === undefined ? 0 : performance.now() - this.#since;
    return Math.max(this.#longestMs, heldMs);
  }
}

/** The error for the client of such a stream. */
export const slowClientError = (): GatewayError =>
  new GatewayError(
    "upstream_error",
    "The answer was read so slowly that its provider's connection ended before it was complete. What arrived of it is charged.",
  );

/** The failure of such an attempt, if the answer is worthless without its end. It does not count against the provider. */
export function heldBackFailure(cause: unknown): AttemptFailure {
  const error = slowClientError();
  return new AttemptFailure({ error, outcome: endedHere, message: error.message }, cause);
}
