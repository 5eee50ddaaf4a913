/** The caller's body without the parts that a provider does not get, before it is fitted to the provider. */
import type { Note } from "../base/notes.ts";
import { codecs, type JsonObject } from "../protocols/index.ts";
import type { TextCall } from "./context.ts";
import { withoutFallbacks } from "./fallbacks.ts";

export interface FilteredBody {
  readonly body: JsonObject;
  /** The fields that were left out. */
  readonly notes: readonly Note[];
}

/** Returns the body without fallback models. `isUnproven`: also without the proofs of earlier reasoning, which the provider refuses. */
export function bodyFor(call: TextCall, isUnproven: boolean): FilteredBody {
  const body = withoutFallbacks(call);
  const unproven = isUnproven ? codecs[call.protocol].direct.withoutProofs(body) : undefined;
  return unproven ?? { body, notes: [] };
}
