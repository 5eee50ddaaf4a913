/** Ids as texts: models at NVIDIA and Poolside number their calls, some servers their answers. The AI SDK and typed clients fail at that. */
import { exactText, exactTwinOf, isRawNumber } from "../../base/exact-numbers.ts";
import type { WireObject } from "../../base/json.ts";
import { nonEmpty } from "../read.ts";

/** Returns the id of an answer or a call as a text; undefined if it has none. */
export function idText(value: WireObject): string | undefined {
  const { id } = exactTwinOf(value);
  return typeof id === "number" || isRawNumber(id) ? exactText(id) : nonEmpty(id);
}
