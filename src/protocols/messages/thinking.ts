/** Decodes thinking of the messages protocol into canonical reasoning and encodes it. CONV-219. */
import type { WireObject } from "../../base/json.ts";
import type { JsonObject, ReasoningPart } from "../canonical/request.ts";
import { unsignedMark } from "./unsigned.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Decodes a thinking or redacted_thinking block. An empty signature or the gateway's mark counts as none. */
export function decodeThinking(block: WireObject): ReasoningPart {
  if (block["type"] === "redacted_thinking") {
    const value = text(block["data"]);
    return {
      type: "reasoning",
      text: "",
      signature: { protocol: "messages", value, redacted: true },
    };
  }
  const thought = text(block["thinking"]);
  const value = text(block["signature"]);
  return value === "" || value === unsignedMark
    ? { type: "reasoning", text: thought }
    : { type: "reasoning", text: thought, signature: { protocol: "messages", value } };
}

/** Reasoning is sent back only with this protocol's signature: the vendor refuses it without. */
export function encodeThinking({
  text: thought,
  signature,
}: ReasoningPart): JsonObject | undefined {
  if (signature?.protocol !== "messages") return undefined;
  return signature.redacted === true
    ? { type: "redacted_thinking", data: signature.value }
    : { type: "thinking", thinking: thought, signature: signature.value };
}
