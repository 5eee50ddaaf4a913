/**
 * Canonical JSON: texts of the same meaning get one form. It has no whitespace, names are sorted, and the last of duplicate members
 * wins. Numbers stay as written: two that differ only beyond double precision are forwarded differently, so they must not become
 * equal.
 */
import { randomBytes } from "node:crypto";
import { stringEnd } from "../base/exact-numbers.ts";
import { mayEscapeNames } from "../base/json-text.ts";
import { textOf } from "../base/text.ts";

/** Begins the strings that stand for numbers meanwhile. It is random, so that no caller can have written it. */
const mark = randomBytes(6).toString("hex");
/** Numbers that JSON may write back in another form: all but integers of at most fifteen digits. */
const unsafeNumbers = /-?\d+[.eE][\d.eE+-]*|-?\d{16,}|-0/g;
const markedNumbers = new RegExp(`"${mark}([^"]*)"`, "g");

/**
 * Returns the canonical text for bytes that already parsed as JSON. A text with a backslash in a name stays unchanged: V8 may confuse
 * such names (base/json-text.ts), and two texts of different meaning would become one.
 */
export function canonicalJson(bytes: Uint8Array): string {
  const text = textOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (mayEscapeNames(text)) return text;
  return JSON.stringify(sorted(JSON.parse(markNumbers(text)))).replace(markedNumbers, "$1");
}

/** Returns the text with each unsafe number as a marked string. A reviver, which gets numbers as written, takes twenty times as long as parsing. */
function markNumbers(text: string): string {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const quote = text.indexOf('"', from);
    const to = quote === -1 ? text.length : quote;
    pieces.push(text.slice(from, to).replace(unsafeNumbers, `"${mark}$&"`));
    from = quote === -1 ? to : stringEnd(text, quote + 1) + 1;
    pieces.push(text.slice(to, from));
  }
  return pieces.join("");
}

/** Returns the value with the members of its objects in one order. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(members[name])]));
}
