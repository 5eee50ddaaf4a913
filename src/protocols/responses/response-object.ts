/**
 * Completes a response object: all fields that the Open Responses schema requires are present, and null only where allowed. RESP-51;
 * TXT-10, TXT-11.
 */
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isSet, list, nonEmpty, objectOf, wholeSeconds } from "../read.ts";
import { hasForeignTier } from "../service-tiers.ts";
import { completeItem } from "./complete-item.ts";
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

/** The members that count if the vendor left them out. */
interface Given {
  readonly id: string;
  readonly createdAt: number;
  readonly status: string | undefined;
}

/** Sets the canonical model id and adds missing fields. Changes and returns `response`. */
export function completeResponse(
  response: JsonObject,
  model: string,
  given: Partial<Given> = {},
): JsonObject {
  completeHead(response, given);
  response["model"] = model;
  if (hasForeignTier(response)) delete response["service_tier"];
  for (const [key, value] of Object.entries(filled()))
    if (!isSet(response[key])) response[key] = value;
  for (const key of present) if (response[key] === undefined) response[key] = null;
  completeObjects(response);
  completeItems(response);
  completeUsage(response["usage"]);
  return response;
}

function completeHead(response: JsonObject, given: Partial<Given>): void {
  const isCut = isObject(response["incomplete_details"]);
  response["id"] = nonEmpty(response["id"]) ?? given.id ?? `resp_${crypto.randomUUID()}`;
  response["status"] ??= given.status ?? (isCut ? "incomplete" : "completed");
  response["created_at"] = wholeSeconds(response["created_at"], given.createdAt ?? 0);
}

/** Adds what objects in the response lack. Existing members keep their position; missing ones are appended. */
function completeObjects(response: JsonObject): void {
  const { reasoning, text, error } = response;
  if (isObject(reasoning)) {
    const { effort = null, summary = null } = reasoning;
    response["reasoning"] = { ...reasoning, effort, summary };
  }
  if (isObject(text) && !isSet(text["format"]))
    response["text"] = { ...text, format: { type: "text" } };
  // OpenRouter's codes are numbers, others have none: typed clients could not read why the answer failed.
  if (isObject(error) && !(nonEmpty(error["code"]) && nonEmpty(error["message"]))) {
    const { code, message } = error;
    const word = typeof code === "number" ? String(code) : (nonEmpty(code) ?? "server_error");
    response["error"] = { ...error, code: word, message: nonEmpty(message) ?? "" };
  }
}

/** Only the last item of an answer can be unfinished. */
function completeItems({ id, status, output }: JsonObject): void {
  const items = list(output);
  const isOpen = status === "in_progress" || status === "incomplete";
  for (const [index, item] of items.entries()) {
    const own = isOpen && index === items.length - 1 ? status : "completed";
    completeItem(item, { answerId: nonEmpty(id) ?? "", index, status: own });
  }
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
