/** Maps chat's finish reasons to and from the canonical ones. CONV-709, CONV-717; T11, T19. */
import { isObject } from "../../base/json.ts";
import { reasonWithCalls, type Finish } from "../canonical/response.ts";
import type { AnswerSettings } from "../codec.ts";
import { nonEmpty, lookUp } from "../read.ts";

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  // Together's and TGI's words for the model's own end, and Claude's, as gateways before it keep them.
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  length: "length",
  // Some vendors keep the messages protocol's name.
  max_tokens: "length",
  // Mistral's and Z.ai's words for a full context window.
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  tool_use: "tool_calls",
  content_filter: "content_filter",
  refusal: "content_filter",
  // Google's words, as some gateways before Gemini keep them, in upper case.
  safety: "content_filter",
  prohibited_content: "content_filter",
  blocklist: "content_filter",
  recitation: "content_filter",
  spii: "content_filter",
  // Z.ai.
  sensitive: "content_filter",
  error: "error",
  // Answers that were interrupted: DeepSeek, Z.ai, vLLM and SGLang.
  insufficient_system_resource: "error",
  network_error: "error",
  abort: "error",
  // Google's endpoint of this protocol, for calls that it could not parse; a colon and Google's own reason follow.
  function_call_filter: "error",
};

/**
 * Reads `finish_reason`, in upper or lower case. The presence of calls decides between a plain or unknown reason and `tool_calls`.
 * `stopReason` is vLLM's field for the stop sequence that matched.
 */
export function decodeFinish(raw: unknown, hasCalls: boolean, stopReason?: unknown): Finish {
  const word = nonEmpty(raw);
  const [baseWord = "stop"] = word?.split(":", 1) ?? [];
  const reason = lookUp(reasons, baseWord.toLowerCase()) ?? "stop";
  const sequence = nonEmpty(stopReason);
  return {
    reason: reasonWithCalls(reason, hasCalls),
    ...(word === undefined ? {} : { raw: word }),
    ...(sequence === undefined ? {} : { stopSequence: sequence }),
  };
}

/**
 * Returns the `finish_reason`; `asFunction`: for a caller of the deprecated functions. The protocol has no word for a failed whole answer,
 * so it gets `stop`; streams end with an error chunk instead.
 */
export function encodeFinish({ reason }: Finish, asFunction: boolean): string {
  if (reason === "error") return "stop";
  return reason === "tool_calls" && asFunction ? "function_call" : reason;
}

/** True if the caller names the tool to call. OpenAI itself ends such an answer with `stop`. */
export const namesTool = ({ tool_choice: choice }: AnswerSettings): boolean =>
  isObject(choice) && (choice["type"] === "function" || choice["type"] === "custom");

/**
 * Returns the protocol's word for a vendor's own one, for direct answers: clients with a closed list of words fail at any other. Undefined if
 * it is the protocol's, its meaning is unknown, or the answer was interrupted, which no word of the protocol says. `hasCalls`: Google's
 * endpoint of this protocol says `stop` of them too, and agents that go by the word then ignore the calls (T11).
 */
export function ownReason(reason: unknown, hasCalls: boolean): Finish["reason"] | undefined {
  if (typeof reason !== "string") return undefined;
  const known = lookUp(reasons, reason.toLowerCase());
  if (hasCalls && known === "stop") return "tool_calls";
  if (protocolReasons.has(reason)) return undefined;
  return known === "error" ? undefined : known;
}

const protocolReasons = new Set([
  "stop",
  "length",
  "tool_calls",
  "function_call",
  "content_filter",
]);
