/**
 * Options by provider, which Vercel's gateway reads from `providerOptions` of every protocol. `gateway` names fallback models and a service
 * tier. The options of a provider have its own spelling of such choices. They are removed there too. docs/decisions.md "Dropped parameters".
 */
import { exactTwinOf } from "../base/exact-numbers.ts";
import { isObject } from "../base/json.ts";
import type { Note } from "../base/notes.ts";
import type { JsonObject } from "./canonical/request.ts";

const field = "providerOptions";

/** Removes these members from the options of each provider in `body`, a copy of the caller's. Null is not noted, as in filter.ts. */
export function removeFromOptions(
  body: JsonObject,
  names: ReadonlySet<string>,
  why: string,
): Note[] {
  const options = exactTwinOf(body[field]);
  const holds = (own: unknown): own is JsonObject =>
    isObject(own) && Object.keys(own).some((name) => names.has(name));
  if (!isObject(options) || !Object.values(options).some(holds)) return [];
  const notes: Note[] = [];
  const kept = Object.entries(options).map(([provider, own]) => {
    if (!holds(own)) return [provider, own];
    const members = Object.entries(own).filter(([name, value]) => {
      if (!names.has(name)) return true;
      const param = `${field}.${provider}.${name}`;
      if (value !== null) notes.push({ param, kind: "dropped", detail: why });
      return false;
    });
    return [provider, Object.fromEntries(members)];
  });
  body[field] = Object.fromEntries(kept) as JsonObject;
  return notes;
}
