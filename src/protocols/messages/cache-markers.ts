/**
 * Limits the cache markers of a messages request: the vendor accepts four and refuses a request with a fifth (CONV-605, LIM-14). Kept are
 * the first, which all calls share, and the last ones, which cover this conversation so far. Requirements: CONV, LIM.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { limits } from "./limits.ts";

/** The members with markers in prompt order, and the name of their markers in notes. */
const holders = [
  ["tools", "tools.cache_control"],
  ["system", "system.cache_control"],
  ["messages", "messages.content.cache_control"],
] as const;

/**
 * Removes surplus markers from `body`, a copy of the caller's. Changed parts are copied, the rest is shared. A marker at the top of the
 * body marks the last block; it counts as one and stays.
 */
export function limitCacheMarkers(body: JsonObject): Note[] {
  const max = limits.cacheBreakpointsMax - (isMarked(body) ? 1 : 0);
  let count = 0;
  for (const [member] of holders) count += countMarkers(body[member]);
  if (count <= max) return [];
  let index = -1;
  const keeps = (): boolean => {
    index += 1;
    return index === 0 || index > count - max;
  };
  const notes: Note[] = [];
  for (const [member, param] of holders) {
    const value = exactTwinOf(body[member]);
    if (countMarkers(value) === 0) continue;
    const thinned = removeSurplusMarkers(value!, keeps);
    body[member] = thinned.value;
    if (!thinned.lost) continue;
    const detail = `the upstream takes ${limits.cacheBreakpointsMax} cache markers, the first and the last were kept`;
    notes.push({ param, kind: "rewritten", detail });
  }
  return notes;
}

const isMarked = (value: WireObject): boolean => isObject(value["cache_control"]);

/** Counts the markers on the blocks of a list, and in their `content`. */
function countMarkers(value: unknown): number {
  if (!Array.isArray(value)) return 0;
  let count = 0;
  for (const item of value) {
    if (!isObject(item)) continue;
    if (isMarked(item)) count += 1;
    if (Array.isArray(item["content"])) count += countMarkers(item["content"]);
  }
  return count;
}

function removeSurplusMarkers(value: Json, keeps: () => boolean): { value: Json; lost: boolean } {
  if (!Array.isArray(value)) return { value, lost: false };
  let lost = false;
  const items = value.map((item) => {
    if (!isObject(item) || countMarkers([item]) === 0) return item;
    const copy: JsonObject = { ...item };
    if (Array.isArray(copy["content"])) {
      const inner = removeSurplusMarkers(copy["content"], keeps);
      copy["content"] = inner.value;
      lost ||= inner.lost;
    }
    if (isMarked(copy) && !keeps()) {
      delete copy["cache_control"];
      lost = true;
    }
    return copy;
  });
  return { value: items, lost };
}
