/**
 * Joins arguments that arrive in pieces under JSON paths (`streamFunctionCallArguments` of some deployments). The resulting object is
 * bounded, because the upstream controls it: its depth, and the number of list items that no piece has.
 */
import { exactTwinOf, isRawNumber } from "../../base/exact-numbers.ts";
import { isObject, type WireObject } from "../../base/json.ts";

const gapsMax = 10_000;
const depthMax = 64;

/** Returns the steps of a path such as `$.recipe.items[0]['the name']`; undefined if it is malformed, too deep or malicious. */
function pathSteps(path: string): (string | number)[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const steps: (string | number)[] = [];
  const pattern = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  pattern.lastIndex = 1;
  while (pattern.lastIndex < path.length) {
    const match = pattern.exec(path);
    if (!match) return undefined;
    const [, name, index, single, double] = match;
    const step = index === undefined ? (name ?? quotedName(single, double)) : Number(index);
    if (step === "__proto__") return undefined;
    steps.push(step);
  }
  return steps.length > 0 && steps.length <= depthMax ? steps : undefined;
}

/** Returns a name in quotes without its escapes (RFC 9535 section 2.3.1.2). A name that they do not fit is taken as it is. */
function quotedName(single: string | undefined, double = ""): string {
  // In single quotes, only the two quotes are written otherwise than in a JSON string.
  const written = single?.replace(/\\.|"/g, (found) => singleQuoted.get(found) ?? found) ?? double;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return single ?? double;
  }
}
const singleQuoted = new Map([
  ["\\'", "'"],
  ['"', '\\"'],
]);

/**
 * Returns a copy of the arguments with `partialArgs` entries applied in order. A string is continued if the entry before announced it.
 * Invalid entries are ignored.
 */
export function joinPartials(args: WireObject, entries: readonly WireObject[]): WireObject {
  const joined = copyOf(exactTwinOf(args)) as WireObject;
  const room: Room = { gaps: gapsMax };
  let continues: unknown;
  for (const entry of entries) {
    apply(joined, entry, continues === entry["jsonPath"], room);
    continues = entry["willContinue"] === true ? entry["jsonPath"] : undefined;
  }
  return joined;
}

/** How many items that no piece has may still be added to the lists. */
interface Room {
  gaps: number;
}

/** Deep copy that keeps exact large numbers. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value) || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
}

function apply(args: WireObject, entry: WireObject, continues: boolean, room: Room): void {
  const path = entry["jsonPath"];
  const steps = typeof path === "string" ? pathSteps(path) : undefined;
  if (!steps) return;
  let place: unknown = args;
  for (const [index, step] of steps.slice(0, -1).entries()) {
    place = childOf(place, step, typeof steps[index + 1] === "number", room);
  }
  const last = steps.at(-1)!;
  const value = valueOf(entry);
  if (value === undefined) return;
  const earlier = memberOf(place, last);
  const joined =
    continues && typeof earlier === "string" && typeof value === "string" ? earlier + value : value;
  setMember(place, last, joined, room);
}

function valueOf(entry: WireObject): unknown {
  if ("nullValue" in entry) return null;
  return entry["stringValue"] ?? exactTwinOf(entry)["numberValue"] ?? entry["boolValue"];
}

function childOf(place: unknown, step: string | number, isList: boolean, room: Room): unknown {
  const known = memberOf(place, step);
  if (typeof known === "object" && known !== null && !isRawNumber(known)) return known;
  const child = isList ? [] : {};
  setMember(place, step, child, room);
  return child;
}

function memberOf(place: unknown, step: string | number): unknown {
  if (Array.isArray(place)) return typeof step === "number" ? place[step] : undefined;
  return isObject(place) && Object.hasOwn(place, step) ? place[String(step)] : undefined;
}

function setMember(place: unknown, step: string | number, value: unknown, room: Room): void {
  if (Array.isArray(place)) {
    if (typeof step !== "number") return;
    const gap = Math.max(0, step - place.length);
    if (gap > room.gaps) return;
    room.gaps -= gap;
    place[step] = value;
  } else if (isObject(place)) place[String(step)] = value;
}
