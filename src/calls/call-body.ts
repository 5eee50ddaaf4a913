/**
 * Holds the request body of a call until its answer begins, as long as another attempt may need it. A stream may last minutes, and an
 * agent's request takes more memory than the rest of its call.
 */
import type { ByteLease } from "../base/byte-budget.ts";
import type { JsonSource } from "../base/json-source.ts";
import type { JsonObject } from "../protocols/index.ts";

/** The body of one call. Only this object may hold the body for as long as the call lives. */
export class CallBody {
  #source: JsonSource | undefined;

  constructor(source: JsonSource) {
    this.#source = source;
  }

  /** The body with its original bytes. @throws Error after its release */
  get source(): JsonSource {
    if (this.#source === undefined) throw new Error("the body is asked for after its release");
    return this.#source;
  }

  get value(): JsonObject {
    return this.source.value as JsonObject;
  }

  /** The body, or undefined after its release. */
  get kept(): JsonObject | undefined {
    return this.#source?.value as JsonObject | undefined;
  }

  /** Frees the parsed values; the next access parses them again. */
  discardDerived(): void {
    this.#source?.discardDerived();
  }

  /** Replaces the body by the one that hooks returned. */
  change(source: JsonSource): void {
    this.#source = source;
  }

  /** Frees the body permanently, and returns its bytes to the budget if `lease` is given. */
  release(lease: ByteLease | undefined): void {
    this.#source = undefined;
    lease?.give(lease.bytes);
  }
}
