/**
 * Counts the bytes of a streamed answer that wait for the end of their event. A vendor may delay that end, or never send it, on any
 * number of streams. So they count in the budget of bodies, as whole answers do.
 */
import type { ByteLease } from "../base/byte-budget.ts";

/** Fewer bytes are not counted: any stream has them within an event for a moment. */
const countedBytesMin = 16_384;

export class PendingEventBytes {
  readonly #call: ByteLease;
  readonly #giveUp: () => void;
  /** Undefined while nothing counts. It is separate from the call's own lease, which is returned when the answer begins. */
  #lease: ByteLease | undefined;

  /** `call`: a lease of the budget. `giveUp`: called if other calls need the room, and almost nothing came in ten seconds. */
  constructor(call: ByteLease, giveUp: () => void) {
    this.#call = call;
    this.#giveUp = giveUp;
  }

  /** Sets the number of waiting bytes. @throws GatewayError 503 `overloaded` if they have no room */
  set(bytes: number): void {
    if (bytes < countedBytesMin) return this.release();
    if (this.#lease === undefined) {
      this.#lease = this.#call.sibling();
      this.#lease.arrives(this.#giveUp);
    }
    const more = bytes - this.#lease.bytes;
    if (more > 0) this.#lease.take(more);
    else this.#lease.give(-more);
  }

  /** Returns the room of all waiting bytes. */
  release(): void {
    this.#lease?.release();
    this.#lease = undefined;
  }
}
