/**
 * Proofs of earlier reasoning in chat: signed and encrypted details (OpenRouter), blocks (LiteLLM) and parts (Databricks), and Google's
 * signatures of calls. Only the vendor or account that made them can verify them. If all of them refuse, the request goes without. T43.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { ChangedBody } from "../codec.ts";
import { isSet, nonEmpty } from "../read.ts";

/** Returns a copy of the caller's body without proofs; undefined if it has none. */
export function withoutProofs(body: JsonObject): ChangedBody | undefined {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages)) return undefined;
  const dropped = new Set<string>();
  const unproven = messages.map((message) =>
    isObject(message) && message["role"] === "assistant" ? strip(message, dropped) : message,
  );
  if (dropped.size === 0) return undefined;
  const detail = "the upstream refuses earlier reasoning of another vendor or account, dropped";
  const notes = [...dropped].map((param): Note => ({ param, kind: "dropped", detail }));
  return { body: { ...body, messages: unproven }, notes };
}

/** The lists of a message that may hold proofs. */
const lists = ["reasoning_details", "thinking_blocks", "content"] as const;

/** Returns an answer without its proofs; adds the names of what was left out to `dropped`. */
function strip(message: JsonObject, dropped: Set<string>): JsonObject {
  const kept: JsonObject = { ...message };
  for (const name of lists) {
    const items = message[name];
    if (!Array.isArray(items) || !items.some(isProven)) continue;
    dropped.add(`messages.${name}`);
    const left = items.filter((item) => !isProven(item));
    if (left.length > 0) kept[name] = left;
    else if (name === "content") kept[name] = "";
    else delete kept[name];
  }
  const calls = message["tool_calls"];
  if (Array.isArray(calls) && calls.some(isSigned)) {
    dropped.add("messages.tool_calls.extra_content");
    kept["tool_calls"] = calls.map(unsigned);
  }
  if (!isSigned(kept)) return kept;
  dropped.add("messages.extra_content");
  return unsigned(kept) as JsonObject;
}

/** True for a detail, a block or a part that is signed or encrypted, and for the summary of a part that is. */
function isProven(item: Json): boolean {
  if (!isObject(item) || item["type"] === "text") return false;
  const { type, data, signature, summary } = item;
  if (nonEmpty(signature) !== undefined) return true;
  if (type === "reasoning.encrypted" || type === "redacted_thinking")
    return nonEmpty(data) !== undefined;
  return type === "reasoning" && Array.isArray(summary) && summary.some(isProven);
}

type Signed = JsonObject & { extra_content: JsonObject & { google: JsonObject } };

/** True for a call or a message with Google's signature. */
function isSigned(holder: Json): holder is Signed {
  if (!isObject(holder) || !isObject(holder["extra_content"])) return false;
  const { google } = holder["extra_content"];
  return isObject(google) && isSet(google["thought_signature"]);
}

function unsigned(holder: Json): Json {
  if (!isSigned(holder)) return holder;
  const { extra_content: extra, ...rest } = holder;
  const { google, ...others } = extra;
  const { thought_signature: _lost, ...left } = google;
  const kept: JsonObject = Object.keys(left).length > 0 ? { ...others, google: left } : others;
  return Object.keys(kept).length > 0 ? { ...rest, extra_content: kept } : rest;
}
