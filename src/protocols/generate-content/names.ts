/**
 * Field names of the generateContent protocol: camelCase, and snake_case too, as the vendor's own server reads both.
 * Only the protocol's own fields have two spellings; a function's arguments and schemas are the caller's.
 */
import { snakeName } from "../../base/casing.ts";
import type { WireObject } from "../../base/json.ts";

/** The value of a field in either spelling; camelCase wins. Null counts as absent. */
export function read(object: WireObject, name: string): unknown {
  return object[name] ?? object[snakeName(name)] ?? undefined;
}

/** The field's name as the caller spelled it, for notes and errors. */
export function spelling(object: WireObject, name: string): string {
  const snake = snakeName(name);
  return (object[name] ?? undefined) === undefined && object[snake] !== undefined ? snake : name;
}

/** These names as the caller spelled them: of one that stands in both spellings, the one that is read. */
export const spellings = (object: WireObject, names: readonly string[]): ReadonlySet<string> =>
  new Set(names.map((name) => spelling(object, name)));
