/**
 * What a call asks, as long as it may have to be asked: until its answer has begun. A stream may last minutes, and an agent's
 * request takes more memory than all the rest of its call.
 */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import type { JsonObject } from "../protocols/index.ts";

/** The body of one call. It alone holds the body in what lives as long as the call. */
export class CallBody {
  #source: JsonSource | undefined;

  constructor(source: JsonSource) {
    this.#source = source;
  }

  /** The body with the bytes it was read from. */
  get source(): JsonSource {
    if (this.#source === undefined) throw new Error("the body is asked for after its release");
    return this.#source;
  }

  get value(): JsonObject {
    return this.source.value as JsonObject;
  }

  /** The same for whoever can do without it; undefined after its release. */
  get kept(): JsonObject | undefined {
    return this.#source?.value as JsonObject | undefined;
  }

  /** Frees the parsed values; they are parsed again where they are asked for. */
  discardDerived(): void {
    this.#source?.discardDerived();
  }

  /** Hooks made another of it. */
  change(source: JsonSource): void {
    this.#source = source;
  }

  /** Frees the body for good; what `lease` counted for it is returned. */
  release(lease: ByteLease | undefined): void {
    this.#source = undefined;
    lease?.give(lease.bytes);
  }
}
