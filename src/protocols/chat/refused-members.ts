/**
 * Removes reasoning members of earlier messages that an upstream of this protocol refuses. Callers send them back as another vendor spelled
 * them. Other upstreams need them (T41).
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { nonEmpty } from "../read.ts";

/** Removes the members from the messages of `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function removeRefused(body: JsonObject, refused: readonly string[]): Note[] {
  const messages = exactTwinOf(body["messages"]);
  const holds = (message: Json): message is JsonObject =>
    isObject(message) && refused.some((name) => Object.hasOwn(message, name));
  if (refused.length === 0 || !Array.isArray(messages) || !messages.some(holds)) return [];
  const said = new Set<string>();
  body["messages"] = messages.map((message) => {
    if (!holds(message)) return message;
    const kept = { ...message };
    for (const name of refused) {
      if (says(kept[name])) said.add(name);
      delete kept[name];
    }
    return kept;
  });
  const detail = "the upstream refuses earlier reasoning, dropped";
  return [...said].map((name) => ({ param: `messages.${name}`, kind: "dropped", detail }));
}

/** True if the field has content: some vendors send it empty in every message. */
const says = (value: Json | undefined): boolean =>
  nonEmpty(value) !== undefined || (Array.isArray(value) && value.length > 0);
