/** Why a model stopped, between chat's words and the canonical ones. CONV-709, CONV-717; T11, T19. */
import type { Finish } from "../canonical/response.ts";
import { nonEmpty, rowOf } from "../read.ts";

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  length: "length",
  // Some vendors keep the API's own name of the limit.
  max_tokens: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  error: "error",
};

/**
 * Reads `finish_reason`. A plain or unknown ending of an answer with calls is `tool_calls`: not every vendor says so.
 * `stopReason` is vLLM's name for the sequence that matched.
 */
export function decodeFinish(raw: unknown, hasCalls: boolean, stopReason?: unknown): Finish {
  const word = nonEmpty(raw);
  const reason = rowOf(reasons, word ?? "stop") ?? "stop";
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
export function encodeFinish({ reason }: Finish, asFunction = false): string {
  if (reason === "error") return "stop";
  return reason === "tool_calls" && asFunction ? "function_call" : reason;
}
