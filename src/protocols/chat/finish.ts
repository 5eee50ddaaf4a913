/** Why a model stopped, between chat's words and the canonical ones. CONV-709, CONV-717; T11, T19. */
import type { Finish } from "../canonical/response.ts";
import { nonEmpty, rowOf } from "../read.ts";

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  length: "length",
  // Some vendors keep the API's own name of the limit.
  max_tokens: "length",
  // Mistral's and Z.ai's words for the end of the model's context.
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  // Z.ai.
  sensitive: "content_filter",
  error: "error",
  // Answers that were interrupted: DeepSeek, Z.ai, vLLM and SGLang.
  insufficient_system_resource: "error",
  network_error: "error",
  abort: "error",
  // Google's endpoint of this protocol, for calls that cannot be read; what it calls a reason follows a colon.
  function_call_filter: "error",
};

/**
 * Reads `finish_reason`. A plain or unknown ending of an answer with calls is `tool_calls`: not every vendor says so.
 * `stopReason` is vLLM's name for the sequence that matched.
 */
export function decodeFinish(raw: unknown, hasCalls: boolean, stopReason?: unknown): Finish {
  const word = nonEmpty(raw);
  const [told = "stop"] = word?.split(":", 1) ?? [];
  const reason = rowOf(reasons, told) ?? "stop";
  const sequence = nonEmpty(stopReason);
  return {
    reason: reason === "stop" && hasCalls ? "tool_calls" : reason,
    ...(word === undefined ? {} : { raw: word }),
    ...(sequence === undefined ? {} : { stopSequence: sequence }),
  };
}

/**
 * The protocol's word; `asFunction`: to a caller of the deprecated functions. It has none for a failure in a whole answer;
 * streams end with an error chunk instead.
 */
export function encodeFinish({ reason }: Finish, asFunction: boolean): string {
  if (reason === "error") return "stop";
  return reason === "tool_calls" && asFunction ? "function_call" : reason;
}
