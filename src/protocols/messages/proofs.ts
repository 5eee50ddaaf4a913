/**
 * Proofs of earlier thinking: signatures and encrypted thinking, which only the vendor or account that made them can verify. If all of them
 * refuse, the request goes without. The blocks get the gateway's mark, so that it is removed by the rules of unsigned thinking. T43.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { ChangedBody } from "../codec.ts";
import { nonEmpty } from "../read.ts";
import { unsignedMark } from "./unsigned.ts";

/** Returns a copy of the caller's body without proofs; undefined if it has none. */
export function withoutProofs(body: JsonObject): ChangedBody | undefined {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(holdsProof)) return undefined;
  const unproven = messages.map((message) =>
    holdsProof(message) ? { ...message, content: message.content.map(unsigned) } : message,
  );
  // Each route removes what has the mark, and notes that.
  return { body: { ...body, messages: unproven }, notes: [] };
}

type Holder = JsonObject & { content: Json[] };

const holdsProof = (message: Json): message is Holder =>
  isObject(message) && Array.isArray(message["content"]) && message["content"].some(isProven);

function isProven(block: Json): block is JsonObject {
  if (!isObject(block)) return false;
  const { type, signature } = block;
  if (type === "redacted_thinking") return true;
  return type === "thinking" && nonEmpty(signature) !== undefined && signature !== unsignedMark;
}

const unsigned = (block: Json): Json =>
  isProven(block)
    ? { type: "thinking", thinking: block["thinking"] ?? "", signature: unsignedMark }
    : block;
