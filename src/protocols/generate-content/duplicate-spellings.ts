/**
 * Fields present in both spellings, such as `maxOutputTokens` and `max_output_tokens`. The vendor's server merges them or uses the last
 * one. The gateway forwards only the one that it reads, so that the vendor acts on the value that was checked and reserved.
 */
import { inCamelCase } from "../../base/casing.ts";
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { JsonObject } from "../canonical/request.ts";
import { spelling } from "./names.ts";

/** Removes the second spellings from `body`, a copy of the caller's, and from its configuration, which is copied if it has any. */
export function dropDuplicateSpellings(body: JsonObject): Note[] {
  const notes = dropIn(body, "");
  const name = spelling(body, "generationConfig");
  const config = exactTwinOf(body[name]);
  if (!isObject(config)) return notes;
  const copy = { ...config };
  const inner = dropIn(copy, `${name}.`);
  if (inner.length > 0) body[name] = copy;
  return [...notes, ...inner];
}

function dropIn(object: JsonObject, prefix: string): Note[] {
  const notes: Note[] = [];
  for (const name of Object.keys(object)) {
    const read = inCamelCase(name);
    if (read === name || (object[read] ?? undefined) === undefined) continue;
    delete object[name];
    notes.push({ param: prefix + name, kind: "dropped", detail: `${read} says it, dropped` });
  }
  return notes;
}
