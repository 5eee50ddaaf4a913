/**
 * A JSON text in the one form that texts of the same meaning have: without blanks, names in order, a member that is named twice
 * with its last value. Numbers stay as they were written: two that differ only beyond what a number can hold are sent on
 * differently, so they must not be taken for the same.
 */

import { mayEscapeNames } from "../base/json-text.ts";
import { textOf } from "../base/text.ts";

/** A number as it was written. */
class Exact {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;
/** As the language has it; the types of the compiler do not know the source text yet. */
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

const exact: Reviver = (_name, value, { source }) =>
  typeof value === "number" ? new Exact(source ?? String(value)) : value;

/**
 * The text for bytes that were read as JSON before. One in which a name is spelled with a backslash is its own: V8 may take such a name
 * for another one (base/json-text.ts), and two texts of different meaning would be one.
 */
export function canonicalJson(bytes: Uint8Array): string {
  const text = textOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return mayEscapeNames(text) ? text : written(parse(text, exact));
}

function written(value: unknown): string {
  if (value instanceof Exact) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  const members = value as Readonly<Record<string, unknown>>;
  return `{${names.map((name) => `${JSON.stringify(name)}:${written(members[name])}`).join(",")}}`;
}
