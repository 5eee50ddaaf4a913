/**
 * Fits the history of a conversation on the direct route to models that are stricter than others. A caller that changes its model sends
 * them the answers of other vendors. Conversions have the same rules. Traps T21, T41.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamAddress } from "../codec.ts";
import { hashOf } from "../fit-ids.ts";
import { mistralCallId } from "../limits.ts";
import { nonEmpty } from "../read.ts";
import { isMistral } from "./mistral.ts";
import { reasoningText } from "./reasoning.ts";

/** Matches the model names, which all providers keep. */
export const deepseek = /(?:^|[/-])deepseek/i;
export const kimi = /(?:^|[/-])kimi/i;
export const mimo = /(?:^|[/-])mimo/i;

/** Fits the messages of `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function fitHistory(body: JsonObject, upstream: UpstreamAddress): Note[] {
  const { model, refusedMembers = [] } = upstream;
  if (isMistral(model)) return fitCallIds(body);
  const needsReasoning = [kimi, deepseek, mimo].some((name) => name.test(model));
  if (needsReasoning && !refusedMembers.includes("reasoning_content")) fillReasoning(body);
  if (mimo.test(model)) fillText(body);
  return [];
}

/** Gives answers and results without text a blank: MiMo refuses them, also those of only calls. Nothing is lost, so this is not noted. */
export function fillText(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(lacksText)) return;
  body["messages"] = messages.map((message) =>
    lacksText(message) ? { ...message, content: " " } : message,
  );
}

const lacksText = (message: Json): message is JsonObject =>
  isObject(message) &&
  (message["role"] === "assistant" || message["role"] === "tool") &&
  (message["content"] ?? "") === "";

/** Replaces ids that Mistral refuses, in calls and their results. The same id always gets the same replacement. */
function fitCallIds(body: JsonObject): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(holdsRefusedId)) return [];
  body["messages"] = messages.map((message) => {
    if (!holdsRefusedId(message)) return message;
    const calls = message["tool_calls"];
    return {
      ...withId(message, "tool_call_id"),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(withCallId) } : {}),
    };
  });
  const detail =
    "ids of calls that the upstream refuses went under others, and so did their results";
  return [{ param: "messages.tool_calls", kind: "rewritten", detail }];
}

const isRefusedId = (id: Json | undefined): id is string =>
  typeof id === "string" && !mistralCallId.test(id);

const holdsRefusedId = (message: Json): message is JsonObject =>
  isObject(message) &&
  (isRefusedId(message["tool_call_id"]) ||
    callsOf(message).some((call) => isObject(call) && isRefusedId(call["id"])));

const callsOf = (message: JsonObject): readonly Json[] =>
  Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];

const withCallId = (call: Json): Json => (isObject(call) ? withId(call, "id") : call);

function withId(holder: JsonObject, member: "id" | "tool_call_id"): JsonObject {
  const id = holder[member];
  return isRefusedId(id) ? { ...holder, [member]: hashOf(id).slice(0, 9) } : holder;
}

/**
 * Gives each answer reasoning if the conversation has calls, as Kimi, DeepSeek and MiMo require: the text of the other spelling, or a
 * blank if it has none. Nothing is lost, so this is not noted.
 */
function fillReasoning(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(hasCalls) || !messages.some(lacksReasoning))
    return;
  body["messages"] = messages.map((message) =>
    lacksReasoning(message)
      ? { ...message, reasoning_content: nonEmpty(reasoningText(message)) ?? " " }
      : message,
  );
}

const hasCalls = (message: Json): boolean => isObject(message) && callsOf(message).length > 0;

const lacksReasoning = (message: Json): message is JsonObject =>
  isObject(message) &&
  message["role"] === "assistant" &&
  nonEmpty(message["reasoning_content"]) === undefined;
