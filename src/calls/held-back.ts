/**
 * How long the client of a stream has held it back, and whether it ended early for that. Vendors do not wait for ever, and bill what
 * they made: such an end is charged as if the client had left. docs/decisions.md "Client disconnect"; T62.
 */
import { GatewayError } from "../base/errors.ts";

/** A stream that its client has held back for so long at a time may break for it. */
const patienceMs = 10_000;

export class HeldBack {
  /** Since when, by the monotonic clock; undefined while the stream flows. */
  #since: number | undefined;
  /** The longest time that it was. */
  #longestMs = 0;

  get isNow(): boolean {
    return this.#since !== undefined;
  }

  /** The client takes no more for now. */
  begin(): void {
    this.#since ??= performance.now();
  }

  /** It takes more. */
  end(): void {
    this.#longestMs = this.#msMax();
    this.#since = undefined;
  }

  /**
   * Whether the client brought about an end that came too early. While a stream is held back the upstream's close is not seen: that
   * comes with what was left of it. `isOurEnd`: the time of the call was over.
   */
  explains(isOurEnd: boolean): boolean {
    return this.#msMax() >= patienceMs || (isOurEnd && this.#since !== undefined);
  }

  #msMax(): number {
    const heldMs = this.#since === undefined ? 0 : performance.now() - this.#since;
    return Math.max(this.#longestMs, heldMs);
  }
}

/** What the client of such a stream is told. */
export const tooSlow = (): GatewayError =>
  new GatewayError(
    "upstream_error",
    "The answer was read so slowly that its provider's connection ended before it was complete. What arrived of it is charged.",
  );
