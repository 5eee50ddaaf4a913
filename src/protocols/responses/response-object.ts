/**
 * Completes a response object: all fields that the Open Responses schema requires are present, and null only where allowed. RESP-51;
 * TXT-10, TXT-11.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { lookUp, objectOf } from "../read.ts";
import { hasForeignTier } from "../service-tiers.ts";
import { readUsage } from "./usage.ts";

/** Defaults of fields that must be present and not null. OpenAI itself sends null temperatures for reasoning models. */
const filled = (): JsonObject => ({
  object: "response",
  output: [],
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  store: false,
  background: false,
  service_tier: "default",
  metadata: {},
});

/** Fields that must be present, but may be null. */
const present = [
  "completed_at",
  "incomplete_details",
  "previous_response_id",
  "instructions",
  "error",
  "reasoning",
  "usage",
  "max_output_tokens",
  "max_tool_calls",
  "safety_identifier",
  "prompt_cache_key",
] as const;

/** Sets the canonical model id and adds missing fields. Changes and returns `response`. */
export function completeResponse(response: JsonObject, model: string): JsonObject {
  response["model"] = model;
  if (hasForeignTier(response)) delete response["service_tier"];
  for (const [key, value] of Object.entries(filled())) {
    if (response[key] === undefined || response[key] === null) response[key] = value;
  }
  for (const key of present) if (response[key] === undefined) response[key] = null;
  const { reasoning, output } = response;
  if (isObject(reasoning)) {
    // Existing members keep their position; missing ones are appended.
    const { effort = null, summary = null } = reasoning;
    response["reasoning"] = { ...reasoning, effort, summary };
  }
  if (Array.isArray(output)) for (const item of output) completeItem(item);
  completeUsage(response["usage"]);
  return response;
}

/**
 * Sets both sides and their details as billed, and the total as their sum (RESP-53). Some vendors omit the total or count differently, or
 * report details that cannot be true (T51). Others leave out a count of 0: Codex then takes the answer for a broken one and calls again.
 */
function completeUsage(wire: Json | undefined): void {
  const usage = readUsage(wire);
  if (!usage) return;
  const told = wire as JsonObject;
  const { inputTokens: input, outputTokens: output } = usage;
  const inputDetails = objectOf(told["input_tokens_details"]) as JsonObject;
  const outputDetails = objectOf(told["output_tokens_details"]) as JsonObject;
  Object.assign(told, {
    input_tokens: input,
    input_tokens_details: { ...inputDetails, cached_tokens: usage.cacheReadTokens },
    output_tokens: output,
    output_tokens_details: { ...outputDetails, reasoning_tokens: usage.reasoningTokens },
    total_tokens: input + output,
  });
}

/** Members that items of a kind must have, with the value of an item that has only begun. */
const itemMembers: Readonly<Record<string, readonly [name: string, empty: () => Json]>> = {
  message: ["content", () => []],
  reasoning: ["summary", () => []],
  function_call: ["arguments", () => ""],
  custom_tool_call: ["input", () => ""],
};

/** The text that a part of a kind must have. */
const partTexts: Readonly<Record<string, string>> = {
  output_text: "text",
  reasoning_text: "text",
  summary_text: "text",
  refusal: "refusal",
};

/** Adds the text that a part lacks; true if it did. Codex refuses the whole item otherwise, and OpenAI's SDKs add later pieces to it. */
export function completePart(part: unknown): boolean {
  if (!isObject(part)) return false;
  const name = lookUp(partTexts, String(part["type"]));
  if (name === undefined || (part[name] ?? null) !== null) return false;
  part[name] = "";
  return true;
}

/**
 * Makes an item readable for typed clients. Codex ignores an item without its list or text, as Volcengine Ark begins its reasoning, and then
 * all pieces of it. OpenAI's SDK for .NET fails at a status of null, as vLLM sends it: members that are a string or absent are removed if they
 * are null. Returns true if the item was one that clients refuse.
 */
export function completeItem(item: unknown): boolean {
  if (!isObject(item)) return false;
  const isNull = item["status"] === null;
  for (const name of ["encrypted_content", "status"]) if (item[name] === null) delete item[name];
  const parts = [item["content"], item["summary"]].flatMap((list) =>
    Array.isArray(list) ? list.map(completePart) : [],
  );
  const isWrong = isNull || parts.includes(true);
  const [name, empty] = lookUp(itemMembers, String(item["type"])) ?? [];
  if (name === undefined || !empty || (item[name] ?? null) !== null) return isWrong;
  item[name] = empty();
  return true;
}
