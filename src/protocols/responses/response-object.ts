/**
 * Completes a response object: all fields that the Open Responses schema requires are present, and null only where allowed. RESP-51;
 * TXT-10, TXT-11.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
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
  if (Array.isArray(output)) output.forEach(dropNullEncryption);
  completeTotal(response["usage"]);
  return response;
}

/** Sets the count in the details of a side as billed, if the vendor reports another: more than the side, or none that can be true (T51). */
function correct(details: Json | undefined, name: string, count: number): void {
  if (isObject(details) && (details[name] ?? null) !== null) details[name] = count;
}

/** Sets both sides as billed, and the total as their sum (RESP-53); some vendors omit the total or count differently. */
function completeTotal(wireUsage: Json | undefined): void {
  const usage = readUsage(wireUsage);
  if (!usage) return;
  const { inputTokens: input, outputTokens: output } = usage;
  Object.assign(wireUsage as JsonObject, {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  });
  const { input_tokens_details: inputDetails, output_tokens_details: outputDetails } =
    wireUsage as JsonObject;
  correct(inputDetails, "cached_tokens", usage.cacheReadTokens);
  correct(outputDetails, "reasoning_tokens", usage.reasoningTokens);
}

/** `encrypted_content` is a string or absent. */
function dropNullEncryption(item: Json): void {
  const object: WireObject | undefined = isObject(item) ? item : undefined;
  if (object && object["encrypted_content"] === null) delete object["encrypted_content"];
}
