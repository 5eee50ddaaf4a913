/**
 * Fields that only their own protocol knows: taken aside when a request is decoded, and put back where they stood
 * when it is encoded for the same protocol.
 */
import { isObject, type WireObject } from "../base/json.ts";
import type { Json, JsonObject, NativeField } from "./canonical/request.ts";

/** Notes each member of `object` that is set and not among `known`, under its dotted name. */
export function keepUnknown(
  object: WireObject,
  known: ReadonlySet<string>,
  prefix: string,
  native: NativeField[],
): void {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (known.has(key) || value === undefined || value === null) continue;
    native.push({ param: prefix === "" ? key : `${prefix}.${key}`, value });
  }
}

/** The same for the members of what `key` holds, where that is an object. */
export function keepUnknownIn(
  holder: WireObject,
  key: string,
  { known, prefix, native }: Unknown,
): void {
  const held = holder[key];
  const place = prefix === "" ? key : `${prefix}.${key}`;
  if (isObject(held)) keepUnknown(held, known, place, native);
}

/** What of an object is known, the name of its holder, and where the rest is noted. */
interface Unknown {
  readonly known: ReadonlySet<string>;
  readonly prefix: string;
  readonly native: NativeField[];
}

/**
 * Puts native fields back into an encoded body, in order. A list item goes in where it stood; a member is set.
 * A field whose place no longer exists is left out. `rename` turns a caller's spelling into the encoder's.
 * Names come from outside: only own members are walked, so that none reaches a prototype.
 */
export function restoreNative(
  body: JsonObject,
  native: readonly NativeField[],
  rename: (key: string) => string = (key) => key,
): void {
  for (const { param, value } of native) {
    const path = param.split(/[.[\]]+/).filter((step) => step !== "");
    const parent = parentOf(body, path, rename);
    const last = path.at(-1);
    if (last === undefined) continue;
    if (Array.isArray(parent)) parent.splice(Number(last), 0, value as Json);
    else if (parent && last !== "__proto__") parent[rename(last)] = value as Json;
  }
}

/** What holds the last step of a path; missing objects on the way are made, and so are items of `tools`. */
function parentOf(
  body: JsonObject,
  path: readonly string[],
  rename: (key: string) => string,
): JsonObject | Json[] | undefined {
  let place: Json | undefined = body;
  for (const [index, step] of path.slice(0, -1).entries()) {
    const empty: () => Json = isIndex(path[index + 1]!) ? () => [] : () => ({});
    if (Array.isArray(place)) place = listItem(place, Number(step), path[0] === "tools");
    else if (isJsonObject(place)) place = ownMember(place, rename(step), empty);
    else return undefined;
  }
  return Array.isArray(place) || isJsonObject(place) ? place : undefined;
}

const isIndex = (step: string): boolean => /^\d+$/.test(step);

function listItem(list: Json[], index: number, mayGrow: boolean): Json | undefined {
  if (index < list.length || !mayGrow) return list[index];
  const item = {};
  list.push(item);
  return item;
}

function ownMember(object: JsonObject, key: string, empty: () => Json): Json | undefined {
  if (!Object.hasOwn(object, key) && key !== "__proto__") object[key] = empty();
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

const isJsonObject = (value: Json | undefined): value is JsonObject => isObject(value);
