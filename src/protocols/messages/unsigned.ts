/**
 * Thinking that no vendor of this protocol signed: shown to callers under a mark of ours, known again by it when they
 * send it back, and kept from upstreams that ask for a signature. CONV-219.
 */
import { exactly } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject, Signature } from "../canonical/request.ts";

/** Stands where the signature would: no vendor's is written so. */
export const unsignedMark = "gw_unsigned";

/** The signature if it proves something here: another protocol's would be refused when it is sent back. */
export const ownSignature = (signature: Signature | undefined): Signature | undefined =>
  signature?.protocol === "messages" && signature.value !== unsignedMark ? signature : undefined;

/** What a message of nothing says, as in conversions: vendors refuse empty content (T25). */
const placeholder = { type: "text", text: "(no content)" };

/**
 * Takes marked thinking out of `body`, a copy of the caller's; the messages it stood in are copied too, and the rest
 * shared. Any other signature stays, an empty one too: vendors that speak this protocol give and take it.
 */
export function removeUnsignedThinking(body: JsonObject): Note[] {
  const messages = exactly(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(holdsMarked)) return [];
  body["messages"] = messages.map((message) => (holdsMarked(message) ? without(message) : message));
  const detail = "the upstream takes earlier reasoning with its own signature only, dropped";
  return [{ param: "messages.content.thinking", kind: "dropped", detail }];
}

type Holder = JsonObject & { content: Json[] };

const holdsMarked = (message: Json): message is Holder =>
  isObject(message) &&
  message["role"] === "assistant" &&
  Array.isArray(message["content"]) &&
  message["content"].some(isMarked);

const isMarked = (block: Json): boolean =>
  isObject(block) && block["type"] === "thinking" && block["signature"] === unsignedMark;

function without(message: Holder): JsonObject {
  const content = message.content.filter((block) => !isMarked(block));
  return { ...message, content: content.length > 0 ? content : [{ ...placeholder }] };
}
