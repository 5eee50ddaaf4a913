/**
 * Signatures of Gemini in chat, at Google's endpoint for it. A call has its signature in `extra_content`. Models of the third generation
 * refuse a conversation in which the first call of an answer has none: another vendor made it, or the client did not keep it. Trap T38.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { Codec, UpstreamCodec } from "../codec.ts";
import { isSet, nonEmpty } from "../read.ts";
import { skipSignature } from "../skip-signature.ts";

/** True for Gemini's models from the third generation on, by their provider's name for them. */
export const isGemini3 = (model: string): boolean => /gemini-(?:[3-9]|[1-9]\d)/i.test(model);

/** The chat codec for these models. */
export const geminiCodec = (chat: Codec): UpstreamCodec => ({
  ...chat,
  encodeRequest(request, model) {
    const body = chat.encodeRequest(request, model);
    signFirstCalls(body);
    return body;
  },
});

/** Adds Google's marker to unsigned first calls in `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function signFirstCalls(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(isUnsigned)) return;
  body["messages"] = messages.map((message) => {
    if (!isUnsigned(message)) return message;
    const [first, ...others] = message.tool_calls;
    const signed = { ...first, extra_content: { google: { thought_signature: skipSignature } } };
    return { ...message, tool_calls: [signed, ...others] };
  });
}

type Calling = JsonObject & { tool_calls: [JsonObject, ...Json[]] };

/** OpenRouter has the signatures in `reasoning_details`. Other vendors' details prove nothing here. */
function isUnsigned(message: Json): message is Calling {
  if (!isObject(message) || !Array.isArray(message["tool_calls"])) return false;
  const { tool_calls: calls, reasoning_details: details } = message;
  const first: unknown = calls[0];
  const isProven = Array.isArray(details) && details.some(mayBeOwn);
  return isObject(first) && !isSet(first["extra_content"]) && !isProven;
}

/** False for details whose format names another vendor, such as `openai-responses-v1`, and for mere text, as MiniMax gives it. */
function mayBeOwn(detail: Json): boolean {
  if (!isObject(detail)) return true;
  const { type, format, signature } = detail;
  const isText = type === "reasoning.text" || type === "reasoning.summary";
  if (isText && nonEmpty(signature) === undefined) return false;
  return !/^(?:anthropic|openai|xai|azure)/.test(nonEmpty(format) ?? "");
}
