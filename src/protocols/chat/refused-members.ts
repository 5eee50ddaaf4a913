/**
 * Removes members of earlier messages and their calls that an upstream of this protocol refuses: reasoning and signatures. Callers send
 * them back as another vendor spelled them. Other upstreams need them (T38, T41).
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isEmptyList, isSet } from "../read.ts";

/** Removes the members from the messages of `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function removeRefused(body: JsonObject, refused: readonly string[]): Note[] {
  const messages = exactTwinOf(body["messages"]);
  const holdsOwn = (value: Json): value is JsonObject =>
    isObject(value) && refused.some((name) => Object.hasOwn(value, name));
  const holds = (message: Json): message is JsonObject =>
    holdsOwn(message) || callsOf(message).some(holdsOwn);
  if (refused.length === 0 || !Array.isArray(messages) || !messages.some(holds)) return [];
  const said = new Set<string>();
  const without = (holder: JsonObject, path: string): JsonObject => {
    const kept = { ...holder };
    for (const name of refused) {
      if (says(kept[name])) said.add(`${path}.${name}`);
      delete kept[name];
    }
    return kept;
  };
  body["messages"] = messages.map((message) => {
    if (!holds(message)) return message;
    const kept = without(message, "messages");
    const calls = callsOf(message);
    if (calls.some(holdsOwn))
      kept["tool_calls"] = calls.map((call) =>
        holdsOwn(call) ? without(call, "messages.tool_calls") : call,
      );
    return kept;
  });
  const detail = "the upstream refuses earlier reasoning, dropped";
  return [...said].map((param) => ({ param, kind: "dropped", detail }));
}

const callsOf = (message: Json): readonly Json[] =>
  isObject(message) && Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];

/** True if the field has content: some vendors send it empty in every message. */
const says = (value: Json | undefined): boolean =>
  isSet(value) && value !== "" && !isEmptyList(value);
