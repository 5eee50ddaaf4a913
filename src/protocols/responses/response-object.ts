/**
 * The response object, completed: every field the Open Responses schema wants present, none null that may not be.
 * RESP-51; TXT-10, TXT-11.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { readUsage } from "./usage.ts";

/** Never null or absent. OpenAI itself sends null temperatures for reasoning models. */
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

/** Always present, null where there is nothing to say. */
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

/** Sets the canonical model id and completes what is missing. Changes and returns `response`. */
export function completeResponse(response: JsonObject, model: string): JsonObject {
  response["model"] = model;
  for (const [key, value] of Object.entries(filled())) {
    if (response[key] === undefined || response[key] === null) response[key] = value;
  }
  for (const key of present) if (response[key] === undefined) response[key] = null;
  const { reasoning, output } = response;
  if (isObject(reasoning)) {
    // What is there stays in its place; only what is missing goes to the end.
    const { effort = null, summary = null } = reasoning;
    response["reasoning"] = { ...reasoning, effort, summary };
  }
  if (Array.isArray(output)) output.forEach(dropNullEncryption);
  completeTotal(response["usage"]);
  return response;
}

/** Both sides as they are billed, and the total as their sum (RESP-53); some vendors leave it out, or count otherwise. */
function completeTotal(told: Json | undefined): void {
  const usage = readUsage(told);
  if (!usage) return;
  const { inputTokens: input, outputTokens: output } = usage;
  Object.assign(told as JsonObject, {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  });
}

/** `encrypted_content` is a string or absent. */
function dropNullEncryption(item: Json): void {
  const object: WireObject | undefined = isObject(item) ? item : undefined;
  if (object && object["encrypted_content"] === null) delete object["encrypted_content"];
}
