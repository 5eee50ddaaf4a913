/**
 * Assigns call ids that the target accepts, in characters and length. Each pair of call and result gets its own id, because vendors refuse
 * a repeated one (T21). The same conversation gets the same ids in every turn.
 */
import type { ToolCallPart, ToolResultPart } from "./canonical/request.ts";
import { hashOf } from "./fit-ids.ts";
import type { Limits } from "./limits.ts";

export interface Pair {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

/** Returns the answered calls and their results with their new ids, by the caller's call. */
export function withUniqueCallIds(
  results: ReadonlyMap<ToolCallPart, ToolResultPart>,
  limits: Limits,
): ReadonlyMap<ToolCallPart, Pair> {
  const ids = new CallIdAllocator(limits);
  const pairs = new Map<ToolCallPart, Pair>();
  for (const [call, result] of results) {
    const id = ids.next(call.id);
    const isSame = id === call.id;
    pairs.set(
      call,
      isSame ? { call, result } : { call: { ...call, id }, result: { ...result, callId: id } },
    );
  }
  return pairs;
}

type IdLimits = Pick<Limits, "callIdMax" | "plainCallIds" | "callIdForm">;

/** Assigns the ids of one conversation's calls, in order. */
export class CallIdAllocator {
  readonly #limits: IdLimits;
  readonly #taken = new Set<string>();
  readonly #uses = new Map<string, number>();

  constructor(limits: IdLimits) {
    this.#limits = limits;
  }

  /** Returns the id for the next call, whose original id is `given`. */
  next(given: string): string {
    const plain = acceptedId(given, this.#limits);
    let id = plain;
    for (let use = this.#uses.get(plain) ?? 1; this.#taken.has(id);) {
      use += 1;
      this.#uses.set(plain, use);
      id = acceptedId(`${plain}_${use}`, this.#limits);
    }
    this.#taken.add(id);
    return id;
  }
}

/** Returns an id that the target accepts; a hash if the original is too long. */
function acceptedId(given: string, { callIdMax, plainCallIds, callIdForm }: IdLimits): string {
  if (callIdForm) return callIdForm.test(given) ? given : hashOf(given).slice(0, 9);
  const id = plainCallIds ? given.replace(/[^a-zA-Z0-9_-]/g, "_") : given;
  if (id.length > callIdMax) return hashedId(given);
  return id === "" ? "call" : id;
}

/** Returns an id of 37 characters, the same for the same original. */
export const hashedId = (given: string): string => `call_${hashOf(given)}`;
