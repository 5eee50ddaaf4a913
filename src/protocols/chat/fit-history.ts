/**
 * Fits the history of a conversation on the direct route to models that are stricter than others. A caller that changes its model sends
 * them the answers of other vendors. Conversions have the same rules. Traps T21, T41.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { UpstreamAddress } from "../codec.ts";
import { hashedId } from "../call-id-allocator.ts";
import { hashOf } from "../fit-ids.ts";
import { isEmptyList, isSet, nonEmpty } from "../read.ts";
import { isGemini3, signFirstCalls } from "./gemini.ts";
import { conversionLimits } from "./limits.ts";
import { mistralCallId } from "../limits.ts";
import { isMistral } from "./mistral.ts";
import { reasoningText } from "./reasoning.ts";

/** Matches the model names, which all providers keep. */
export const deepseek = /(?:^|[/-])deepseek/i;
export const kimi = /(?:^|[/-])kimi/i;
export const mimo = /(?:^|[/-])mimo/i;

/** Fits the messages of `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function fitHistory(body: JsonObject, upstream: UpstreamAddress): Note[] {
  const { model, refusedMembers = [], checksHistory } = upstream;
  if (isMistral(model)) return fitCallIds(body, mistralIds);
  if (isGemini3(model)) signFirstCalls(body);
  const needsReasoning = [kimi, deepseek, mimo].some((name) => name.test(model));
  if (needsReasoning && !refusedMembers.includes("reasoning_content")) fillReasoning(body);
  if (mimo.test(model)) fillText(body);
  return checksHistory === true ? fitCallIds(body, openAiIds) : [];
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

/** The ids of calls that a vendor refuses, and what replaces one. */
interface IdRule {
  readonly refuses: (id: string) => boolean;
  readonly replacement: (id: string) => string;
}

const mistralIds: IdRule = {
  refuses: (id) => !mistralCallId.test(id),
  replacement: (id) => hashOf(id).slice(0, 9),
};

/** OpenAI refuses long ones, such as vLLM's with 46 characters. */
const openAiIds: IdRule = {
  refuses: (id) => id.length > conversionLimits.callIdMax,
  replacement: hashedId,
};

/** Replaces ids that the vendor refuses, in calls and their results. The same id always gets the same replacement. */
function fitCallIds(body: JsonObject, rule: IdRule): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some((one) => holdsRefusedId(one, rule))) return [];
  body["messages"] = messages.map((message) => {
    if (!holdsRefusedId(message, rule)) return message;
    const calls = message["tool_calls"];
    const withCallId = (call: Json): Json => (isObject(call) ? withId(call, "id", rule) : call);
    return {
      ...withId(message, "tool_call_id", rule),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(withCallId) } : {}),
    };
  });
  const detail =
    "ids of calls that the upstream refuses went under others, and so did their results";
  return [{ param: "messages.tool_calls", kind: "rewritten", detail }];
}

const isRefusedId = (id: Json | undefined, { refuses }: IdRule): id is string =>
  typeof id === "string" && refuses(id);

const holdsRefusedId = (message: Json, rule: IdRule): message is JsonObject =>
  isObject(message) &&
  (isRefusedId(message["tool_call_id"], rule) ||
    callsOf(message).some((call) => isObject(call) && isRefusedId(call["id"], rule)));

const callsOf = (message: JsonObject): readonly Json[] =>
  Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];

function withId(holder: JsonObject, member: "id" | "tool_call_id", rule: IdRule): JsonObject {
  const id = holder[member];
  return isRefusedId(id, rule) ? { ...holder, [member]: rule.replacement(id) } : holder;
}

/**
 * Gives each answer reasoning if the conversation has calls or tools, as Kimi, DeepSeek and MiMo require: the text of the other spelling,
 * or a blank if it has none. Nothing is lost, so this is not noted.
 */
function fillReasoning(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  const hasTools = isSet(body["tools"]) && !isEmptyList(body["tools"]);
  if (!Array.isArray(messages) || !(hasTools || messages.some(hasCalls))) return;
  if (!messages.some(lacksReasoning)) return;
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
