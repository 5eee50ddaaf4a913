/**
 * What of a streamed answer waits for the end of its event. A vendor may take its time with that, or never send it, on any number of
 * streams: it counts in the budget of bodies, as whole answers do.
 */
import type { ByteLease } from "../base/byte-budget.ts";

/** Less is within an event for a moment on any stream. */
const countedBytesMin = 16_384;

export class Unfinished {
  readonly #call: ByteLease;
  readonly #giveUp: () => void;
  /** Absent while nothing counts. It is apart from the call's own, which is given back when the answer begins. */
  #lease: ByteLease | undefined;

  /** `call`: a lease of the budget. `giveUp`: others need the room, and next to nothing came in ten seconds. */
  constructor(call: ByteLease, giveUp: () => void) {
    this.#call = call;
    this.#giveUp = giveUp;
  }

  /** So much waits now. @throws GatewayError 503 `overloaded` where it has no room */
  holds(bytes: number): void {
    if (bytes < countedBytesMin) return this.release();
    if (this.#lease === undefined) {
      this.#lease = this.#call.beside();
      this.#lease.arrives(this.#giveUp);
    }
    const more = bytes - this.#lease.bytes;
    if (more > 0) this.#lease.take(more);
    else this.#lease.give(-more);
  }

  /** Nothing waits any more. */
  release(): void {
    this.#lease?.release();
    this.#lease = undefined;
  }
}
