/**
 * Field names of the generateContent protocol, in camelCase or snake_case: the vendor's server reads both. Only the protocol's own fields
 * have two spellings; function arguments and schemas belong to the caller.
 */
import { snakeName } from "../../base/casing.ts";
import type { WireObject } from "../../base/json.ts";

/** Returns the value of a field in either spelling; camelCase wins. Null counts as absent. */
export function read(object: WireObject, name: string): unknown {
  return object[name] ?? object[snakeName(name)] ?? undefined;
}

/** Returns the field's name as the caller spelled it, for notes and errors. */
export function spelling(object: WireObject, name: string): string {
  const snake = snakeName(name);
  return (object[name] ?? undefined) === undefined && object[snake] !== undefined ? snake : name;
}

/** Returns these names as the caller spelled them; if both spellings are present, the one that is read. */
export const spellings = (object: WireObject, names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => spelling(object, name)));
