/** Merges members of chat-completions streams that arrive in pieces, beyond text and calls: audio, annotations, vendor extensions. T15. */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** Members that each delta repeats in full. */
const wholeNames = new Set([
  "id",
  "type",
  "role",
  "object",
  "index",
  "format",
  "native_finish_reason",
]);

/** Merges `later` into `members`: appends strings and lists, merges objects by member, replaces other values. Vendors choose the names. */
export function addMembers(members: JsonObject, later: JsonObject): void {
  for (const [name, value] of Object.entries(later)) {
    if (value === null || name === "__proto__") continue;
    const known = Object.hasOwn(members, name) ? members[name] : undefined;
    if (Array.isArray(value) && Array.isArray(known)) for (const one of value) known.push(one);
    else if (isObject(value) && isObject(known)) addMembers(known, value);
    else if (typeof value === "string" && typeof known === "string" && !wholeNames.has(name))
      members[name] = known + value;
    else members[name] = ownCopy(value);
  }
}

/** Copies lists and objects, because later deltas are merged into them. */
function ownCopy(value: Json): Json {
  if (Array.isArray(value)) return [...value];
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  addMembers(copy, value);
  return copy;
}
