/**
 * Canonical JSON: texts of the same meaning get one form. It has no whitespace, names are sorted, and the last of duplicate members
 * wins. Numbers stay as written: two that differ only beyond double precision are forwarded differently, so they must not become
 * equal.
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
/** The compiler's types do not have the reviver's `source` yet. */
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

const exact: Reviver = (_name, value, { source }) =>
  typeof value === "number" ? new Exact(source ?? String(value)) : value;

/**
 * Returns the canonical text for bytes that already parsed as JSON. A text with a backslash in a name stays unchanged: V8 may confuse
 * such names (base/json-text.ts), and two texts of different meaning would become one.
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
