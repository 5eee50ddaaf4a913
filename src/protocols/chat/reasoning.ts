/**
 * Reasoning in chat: `reasoning_content` (DeepSeek, Qwen, xAI), `reasoning` with `reasoning_details` (OpenRouter, vLLM).
 * The details go back as they came: they are the proof the upstream wants (T40, T41).
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

/** The members that wish for reasoning: the protocol's own, or those of a vendor that has others. */
export function encodeReasoningWish(reasoning: Reasoning | undefined): JsonObject {
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

/** The reasoning text of a message or a delta: both spellings carry the same text, so one is read (T18). */
export function reasoningText(message: WireObject): string {
  const text = nonEmpty(message["reasoning_content"]) ?? nonEmpty(message["reasoning"]);
  return text ?? detailsText(objects(message["reasoning_details"]));
}

const detailsText = (details: readonly WireObject[]): string =>
  details.map((item) => nonEmpty(item["text"]) ?? nonEmpty(item["summary"]) ?? "").join("");

/** The reasoning of a whole message as a part; undefined where it has none. */
export function decodeReasoning(message: WireObject): ReasoningPart | undefined {
  const details = objects(message["reasoning_details"]);
  const text = reasoningText(message);
  if (text === "" && details.length === 0) return undefined;
  const signature = signatureOf(details);
  return signature ? { type: "reasoning", text, signature } : { type: "reasoning", text };
}

/** The members of an assistant's message that `decodeReasoning` reads nothing of: of another type, or one text beside another. */
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

/** Whether the text of an item of details is one; some have none. */
function isReadable(item: unknown): boolean {
  if (!isObject(item)) return false;
  const { text, summary } = item;
  return [text, summary].every((value) => !isSet(value) || typeof value === "string");
}

/** `reasoning_details` as the opaque value that goes back unchanged. */
export function signatureOf(details: readonly WireObject[]): Signature | undefined {
  return details.length === 0 ? undefined : { protocol: "chat", value: JSON.stringify(details) };
}

/** `reasoning_details` out of a signature of this protocol; undefined for any other. */
export function detailsOf(signature: Signature | undefined): Json[] | undefined {
  if (signature?.protocol !== "chat") return undefined;
  try {
    const details: unknown = JSON.parse(signature.value);
    return Array.isArray(details) ? (details as Json[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The members of a message that hold reasoning: OpenRouter's pair where there are details, else the common spelling. */
export function encodeReasoning(parts: readonly ReasoningPart[]): JsonObject {
  // A part without text is nothing but its signature.
  const texts = parts.flatMap((part) => (part.text === "" ? [] : [part.text]));
  const text = texts.join("\n\n");
  const details = parts.flatMap((part) => detailsOf(part.signature) ?? []);
  if (details.length > 0) return { reasoning: text, reasoning_details: details };
  return text === "" ? {} : { reasoning_content: text };
}

/** A message has a few. They are looked through for each piece that comes. */
const detailsMax = 1_000;

/**
 * Adds streamed pieces of details to what was gathered: pieces of one item share `type` and `index`, and tell no other
 * `id`; their texts are joined, everything else is the last that came.
 * @throws Error for more than any message has
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
