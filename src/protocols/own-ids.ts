/**
 * Ids of calls as their target takes them: each pair of call and result under one of its own, because vendors refuse an id that came
 * before (T21), of characters and a length that the vendor knows. The same conversation has the same ids in every turn.
 */
import type { ToolCallPart, ToolResultPart } from "./canonical/request.ts";
import { hashOf } from "./fit-ids.ts";
import type { Limits } from "./limits.ts";

export interface Pair {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
}

/** The calls that have a result, and their results, with the ids that they go on under. By the caller's call. */
export function withOwnIds(
  results: ReadonlyMap<ToolCallPart, ToolResultPart>,
  limits: Limits,
): ReadonlyMap<ToolCallPart, Pair> {
  const ids = new OwnIds(limits);
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

/** The ids of one conversation's calls, in their order. */
export class OwnIds {
  readonly #limits: IdLimits;
  readonly #taken = new Set<string>();
  readonly #uses = new Map<string, number>();

  constructor(limits: IdLimits) {
    this.#limits = limits;
  }

  /** The id of the next call, which came under `given`. */
  next(given: string): string {
    const plain = fitting(given, this.#limits);
    let id = plain;
    for (let use = this.#uses.get(plain) ?? 1; this.#taken.has(id);) {
      use += 1;
      this.#uses.set(plain, use);
      id = fitting(`${plain}_${use}`, this.#limits);
    }
    this.#taken.add(id);
    return id;
  }
}

/** An id that the target takes; a hash stands for one that is too long. */
function fitting(given: string, { callIdMax, plainCallIds, callIdForm }: IdLimits): string {
  if (callIdForm) return callIdForm.test(given) ? given : hashOf(given).slice(0, 9);
  const id = plainCallIds ? given.replace(/[^a-zA-Z0-9_-]/g, "_") : given;
  if (id.length > callIdMax) return `call_${hashOf(given)}`;
  return id === "" ? "call" : id;
}
