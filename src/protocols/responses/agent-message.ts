/**
 * Messages between the agents of Codex (`agent_message`), of a kind that only OpenAI knows: other vendors refuse the whole conversation, or
 * leave the message out. RESP-27.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** True for a text that OpenAI encrypted. Codex puts the tasks of other vendors' models in the same member, in plain text. */
export const isSealed = (text: unknown): boolean =>
  typeof text !== "string" || text.startsWith("gAAAA");

/** Returns the message as a user's; undefined for any other item, and for one that only OpenAI can read. */
export function asUserMessage(item: Json | WireObject): JsonObject | undefined {
  if (!isObject(item) || item["type"] !== "agent_message" || !Array.isArray(item["content"]))
    return undefined;
  const content = (item["content"] as Json[]).map(plainPart);
  return content.includes(undefined)
    ? undefined
    : { type: "message", role: "user", content: content as Json[] };
}

function plainPart(part: Json): Json | undefined {
  if (!isObject(part) || part["type"] !== "encrypted_content") return part;
  const { encrypted_content: text } = part;
  return isSealed(text) ? undefined : { type: "input_text", text: text! };
}
