/** What streams of chat completions tell in pieces beside text and calls: sound, annotations, what a vendor adds. T15. */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** Members that are told whole each time they are told. */
const wholeNames = new Set([
  "id",
  "type",
  "role",
  "object",
  "index",
  "format",
  "native_finish_reason",
]);

/** Adds `later` to `members`: texts and lists go on, objects member by member, of all else the last counts. Names come from outside. */
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

/** Lists and objects that are added to are nobody else's. */
function ownCopy(value: Json): Json {
  if (Array.isArray(value)) return [...value];
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  addMembers(copy, value);
  return copy;
}
