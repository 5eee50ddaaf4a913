/**
 * Members of earlier messages that an upstream of this protocol refuses: reasoning as other vendors spell it, which callers send
 * back as they got it. Other upstreams want it back (T41).
 */
import { exactly } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { nonEmpty } from "../read.ts";

/** Takes the members out of the messages of `body`, a copy of the caller's; what they stood in is copied too, and the rest shared. */
export function removeRefused(body: JsonObject, refused: readonly string[]): Note[] {
  const messages = exactly(body["messages"]);
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

/** Fields of nothing come with every message of some vendors. */
const says = (value: Json | undefined): boolean =>
  nonEmpty(value) !== undefined || (Array.isArray(value) && value.length > 0);
