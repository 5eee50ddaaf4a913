/** Sizes of a request's input, read without decoding it: for the estimate that reserves a call's upper bound. */
import { isObject } from "../base/json.ts";

/** Characters of all strings and keys within a JSON value; a number counts as one token's worth. */
export function jsonCharacters(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 4;
  let characters = 0;
  if (Array.isArray(value)) {
    for (const item of value) characters += jsonCharacters(item);
    return characters;
  }
  if (isObject(value)) {
    for (const key in value) characters += key.length + jsonCharacters(value[key]);
  }
  return characters;
}
