/**
 * Spellings of Mistral's clients that OpenAI refuses: the tool choice `any`, and an address in place of the object `image_url`. Mistral takes
 * OpenAI's too, with the same meaning, so every upstream gets these. tool-choice.ts and parts.ts read
 * both for conversions.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";

/** Rewrites `body`, a copy of the caller's body. Changed messages are copied, the others shared. */
export function writeCommonly(body: JsonObject): void {
  if (body["tool_choice"] === "any") body["tool_choice"] = "required";
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages) || !messages.some(holdsBare)) return;
  body["messages"] = messages.map((message) =>
    holdsBare(message) ? { ...message, content: message.content.map(wrapped) } : message,
  );
}

type WithParts = JsonObject & { content: Json[] };

const holdsBare = (message: Json): message is WithParts =>
  isObject(message) && Array.isArray(message["content"]) && message["content"].some(isBare);

const isBare = (part: Json): part is JsonObject & { image_url: string } =>
  isObject(part) && part["type"] === "image_url" && typeof part["image_url"] === "string";

const wrapped = (part: Json): Json =>
  isBare(part) ? { ...part, image_url: { url: part.image_url } } : part;
