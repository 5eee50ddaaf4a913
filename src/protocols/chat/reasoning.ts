/**
 * Reasoning in chat: `reasoning_content` (DeepSeek, Qwen, xAI), or `reasoning` with `reasoning_details` (OpenRouter, vLLM). The details are
 * sent back unchanged: they are the proof that the upstream requires (T40, T41).
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type {
  Json,
  JsonObject,
  Reasoning,
  ReasoningPart,
  Signature,
} from "../canonical/request.ts";
import { isSet, member, nonEmpty, objects } from "../read.ts";

/** Encodes the reasoning settings, in the protocol's member or in the vendor's own ones. */
export function encodeReasoningSettings(reasoning: Reasoning | undefined): JsonObject {
  if (!reasoning) return {};
  const { effort, budget, field = "reasoning_effort" } = reasoning;
  if (field === "reasoning_effort") return member("reasoning_effort", effort);
  if (effort === undefined && budget === undefined) return {};
  const isOn = effort !== "none";
  if (field === "enable_thinking") {
    const isBudget = isOn && typeof budget === "number";
    return { enable_thinking: isOn, ...member("thinking_budget", isBudget ? budget : undefined) };
  }
  const word = isOn ? effort : undefined;
  return { thinking: { type: isOn ? "enabled" : "disabled" }, ...member("reasoning_effort", word) };
}

/** Returns the reasoning text of a message or delta. Both spellings carry the same text, so only one is read (T18). */
export function reasoningText(message: WireObject): string {
  const text = nonEmpty(message["reasoning_content"]) ?? nonEmpty(message["reasoning"]);
  return text ?? detailsText(objects(message["reasoning_details"]));
}

const detailsText = (details: readonly WireObject[]): string =>
  details.map((item) => nonEmpty(item["text"]) ?? nonEmpty(item["summary"]) ?? "").join("");

/** Returns the reasoning of a whole message as a part; undefined if it has none. */
export function decodeReasoning(message: WireObject): ReasoningPart | undefined {
  const details = objects(message["reasoning_details"]);
  const text = reasoningText(message);
  if (text === "" && details.length === 0) return undefined;
  const signature = signatureOf(details);
  return signature ? { type: "reasoning", text, signature } : { type: "reasoning", text };
}

/** Returns the members of an assistant message that `decodeReasoning` ignores: wrong types, or a second, different text. */
export function unreadReasoning(message: WireObject): string[] {
  const { reasoning_content: content, reasoning, reasoning_details: details } = message;
  const isText = (value: unknown): boolean => typeof value === "string";
  const beside = isText(content) && content !== "" && reasoning !== "" && reasoning !== content;
  return [
    ...(isText(content) ? [] : ["reasoning_content"]),
    ...(isText(reasoning) && !beside ? [] : ["reasoning"]),
    ...(Array.isArray(details) && details.every(isReadable) ? [] : ["reasoning_details"]),
  ];
}

/** True if `text` and `summary` of an item are strings or not set. */
function isReadable(item: unknown): boolean {
  if (!isObject(item)) return false;
  const { text, summary } = item;
  return [text, summary].every((value) => !isSet(value) || typeof value === "string");
}

/** Wraps `reasoning_details` as an opaque signature, which is sent back unchanged. */
export function signatureOf(details: readonly WireObject[]): Signature | undefined {
  return details.length === 0 ? undefined : { protocol: "chat", value: JSON.stringify(details) };
}

/** Reads `reasoning_details` from a signature of this protocol; undefined for any other. */
export function detailsOf(signature: Signature | undefined): Json[] | undefined {
  if (signature?.protocol !== "chat") return undefined;
  try {
    const details: unknown = JSON.parse(signature.value);
    return Array.isArray(details) ? (details as Json[]) : undefined;
  } catch {
    return undefined;
  }
}

/** Encodes the reasoning members of a message: OpenRouter's pair if there are details, otherwise `reasoning_content`. */
export function encodeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  // A part without text only carries its signature.
  const texts = parts.flatMap((part) => (part.text === "" ? [] : [part.text]));
  const text = texts.join("\n\n");
  const details = parts.flatMap((part) => detailsOf(part.signature) ?? []);
  if (details.length > 0) return { reasoning: text, reasoning_details: details };
  return text === "" ? {} : { reasoning_content: text };
}

/** Real messages have a few. Each piece searches the whole list, so it is bounded. */
const detailsMax = 1_000;

/**
 * Merges streamed pieces of details into `gathered`. Pieces of one item share `type` and `index`, and their `id`s do not differ. Their
 * texts are joined; of all other members the last one wins.
 * @throws Error if a message has more details than any real one
 */
export function mergeDetails(gathered: WireObject[], pieces: readonly WireObject[]): void {
  for (const piece of pieces) {
    const known = gathered.find(
      (item) =>
        item["type"] === piece["type"] &&
        item["index"] === piece["index"] &&
        (item["id"] ?? piece["id"]) === (piece["id"] ?? item["id"]),
    );
    if (!known) {
      if (gathered.length === detailsMax)
        throw new Error("a message has too many reasoning details");
      gathered.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      const before = known[key];
      const isText = ["text", "summary", "data"].includes(key);
      if (isText && typeof before === "string" && typeof value === "string") {
        known[key] = before + value;
      } else if (value !== null && value !== undefined) known[key] = value;
    }
  }
}
