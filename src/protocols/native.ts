/**
 * Fields that only their own protocol knows. They are set aside when a request is decoded, and restored to their place when it is encoded
 * for the same protocol.
 */
import { isObject, type WireObject } from "../base/json.ts";
import type { Json, JsonObject, NativeField } from "./canonical/request.ts";

/** Notes each set member of `object` that is not in `known`, under its path. */
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

/** The same for the members of the object at `key`. */
export function keepUnknownIn(
  holder: WireObject,
  key: string,
  { known, prefix, native }: Unknown,
): void {
  const held = holder[key];
  const place = prefix === "" ? key : `${prefix}.${key}`;
  if (isObject(held)) keepUnknown(held, known, place, native);
}

/** The known members of an object, the path of its holder, and the list that collects the rest. */
interface Unknown {
  readonly known: ReadonlySet<string>;
  readonly prefix: string;
  readonly native: NativeField[];
}

/**
 * Restores native fields in an encoded body, in order. A list item is inserted at its index; a member is set. A field whose parent no
 * longer exists is left out. `rename` converts a caller's spelling to the encoder's. Callers choose the names, so only own members are
 * followed and none reaches a prototype.
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

/** Returns the parent of a path's last step. Missing objects on the path are created, and so are items of `tools`. */
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
