/**
 * Thinking and citations without a signature of this protocol. Callers see them with the gateway's mark. When callers send them back, the
 * gateway removes them, because upstreams require a signature. CONV-219.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject, Signature } from "../canonical/request.ts";
import { nonEmpty } from "../read.ts";
import { placeholderText } from "../tidy.ts";
import { readsAnyThinking } from "./blank-thinking.ts";
import { isClaude } from "./call-ids.ts";

/** Replaces the signature: no vendor's signature looks like this. */
export const unsignedMark = "gw_unsigned";

/** Prefix of a citation's source, for a file that another vendor cited. */
export const unsignedFile = "gw_file:";

/** Returns the signature if it is valid in this protocol: the vendor refuses those of others. */
export const ownSignature = (signature: Signature | undefined): Signature | undefined =>
  signature?.protocol === "messages" && signature.value !== unsignedMark ? signature : undefined;

/** Content of an otherwise empty message, as in conversions: vendors refuse empty content (T25). */
const placeholder = { type: "text", text: placeholderText };

/**
 * Removes marked blocks and citations from `body`, a copy of the caller's; changed messages are copied, the others shared. All other
 * signatures stay. Empty ones, which some vendors of this protocol use, stay too, unless `model` is Claude, which refuses them. DeepSeek
 * gets all thinking.
 */
export function removeUnsigned(body: JsonObject, model: string): Note[] {
  const messages = exactTwinOf(body["messages"]);
  if (!Array.isArray(messages)) return [];
  const isUnsigned = readsAnyThinking(body, model) ? () => false : unsignedAt(model);
  const isHolder = (message: Json): message is Holder => holdsUnsigned(message, isUnsigned);
  const holders = messages.filter(isHolder);
  if (holders.length === 0) return [];
  body["messages"] = messages.map((message) =>
    isHolder(message) ? without(message, isUnsigned) : message,
  );
  const all = holders.flatMap(({ content }) => content);
  return [
    ...noteOf(all.some(isUnsigned), "messages.content.thinking", "earlier reasoning"),
    ...noteOf(all.some(citesMarked), "messages.content.citations", "citations"),
  ];
}

type IsUnsigned = (block: Json) => boolean;

/** Returns the test for thinking that this model refuses because it has no signature of a vendor. */
export const unsignedAt = (model: string): IsUnsigned =>
  isClaude(model) ? (block) => isMarked(block) || isBare(block) : isMarked;

/** Signatures of MiniMax (a hash) and DeepSeek (an id). Claude's are base64, with letters of both cases. */
const foreignSignature = /^(?:[\da-f]{32,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** True for thinking without a signature that can be Claude's. Kimi and others give none, and some clients do not keep it. */
function isBare(block: Json): boolean {
  if (!isObject(block) || block["type"] !== "thinking") return false;
  const signature = nonEmpty(block["signature"]);
  return signature === undefined || foreignSignature.test(signature);
}

function noteOf(isSo: boolean, param: string, what: string): Note[] {
  const detail = `the upstream takes ${what} with its own signature only, dropped`;
  return isSo ? [{ param, kind: "dropped", detail }] : [];
}

type Holder = JsonObject & { content: Json[] };

const holdsUnsigned = (message: Json, isUnsigned: IsUnsigned): message is Holder =>
  isObject(message) &&
  message["role"] === "assistant" &&
  Array.isArray(message["content"]) &&
  message["content"].some((block) => isUnsigned(block) || citesMarked(block));

/** True for thinking with the gateway's mark. */
const isMarked = (block: Json): boolean =>
  isObject(block) && block["type"] === "thinking" && block["signature"] === unsignedMark;

type Citing = JsonObject & { citations: Json[] };

const citesMarked = (block: Json): block is Citing =>
  isObject(block) && Array.isArray(block["citations"]) && block["citations"].some(isMarkedCitation);

const isMarkedCitation = (citation: Json): boolean =>
  isObject(citation) &&
  (citation["encrypted_index"] === unsignedMark ||
    (typeof citation["source"] === "string" && citation["source"].startsWith(unsignedFile)));

function without(message: Holder, isUnsigned: IsUnsigned): JsonObject {
  const content = message.content
    .filter((block) => !isUnsigned(block) && !isOnlyMarked(block))
    .map(withoutCitations);
  return { ...message, content: content.length > 0 ? content : [{ ...placeholder }] };
}

/** True for an empty text that only carries late citations. */
const isOnlyMarked = (block: Json): boolean => citesMarked(block) && block["text"] === "";

function withoutCitations(block: Json): Json {
  if (!citesMarked(block)) return block;
  const { citations, ...rest } = block;
  const own = citations.filter((citation) => !isMarkedCitation(citation));
  return own.length > 0 ? { ...rest, citations: own } : rest;
}
