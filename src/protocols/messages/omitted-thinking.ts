/**
 * Thinking without its text: Claude streams only a signature if thinking is not displayed, and LangChain's ChatAnthropic for Python then
 * sends a block without `thinking` back, which Claude refuses. TXT-22.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { nonEmpty } from "../read.ts";

/** Adds the empty text to such blocks of `body`, a copy of the caller's. Changed messages are copied, the others shared. */
export function fillOmittedThinking(body: JsonObject): void {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(holdsOmitted)) return;
  body["messages"] = messages.map((message) =>
    holdsOmitted(message) ? { ...message, content: message.content.map(filled) } : message,
  );
}

type Holder = JsonObject & { readonly content: Json[] };

const holdsOmitted = (message: Json): message is Holder =>
  isObject(message) && Array.isArray(message["content"]) && message["content"].some(isOmitted);

const isOmitted = (block: Json): block is JsonObject =>
  isObject(block) &&
  block["type"] === "thinking" &&
  block["thinking"] === undefined &&
  nonEmpty(block["signature"]) !== undefined;

const filled = (block: Json): Json => (isOmitted(block) ? { ...block, thinking: "" } : block);
