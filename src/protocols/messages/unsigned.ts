/**
 * Thinking and citations that no vendor of this protocol signed: shown to callers under a mark of ours, known again by it when
 * they send it back, and kept from upstreams that ask for a signature. CONV-219.
 */
import { exactly } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject, Signature } from "../canonical/request.ts";

/** Stands where the signature would: no vendor's is written so. */
export const unsignedMark = "gw_unsigned";

/** What the source of a file that another vendor cited begins with. */
export const unsignedFile = "gw_file:";

/** The signature if it proves something here: another protocol's would be refused when it is sent back. */
export const ownSignature = (signature: Signature | undefined): Signature | undefined =>
  signature?.protocol === "messages" && signature.value !== unsignedMark ? signature : undefined;

/** What a message of nothing says, as in conversions: vendors refuse empty content (T25). */
const placeholder = { type: "text", text: "(no content)" };

/**
 * Takes what is marked out of `body`, a copy of the caller's; the messages it stood in are copied too, and the rest
 * shared. Any other signature stays, an empty one too: vendors that speak this protocol give and take it.
 */
export function removeUnsigned(body: JsonObject): Note[] {
  const messages = exactly(body["messages"]);
  if (!Array.isArray(messages)) return [];
  const holders = messages.filter(holdsMarked);
  if (holders.length === 0) return [];
  body["messages"] = messages.map((message) => (holdsMarked(message) ? without(message) : message));
  const all = holders.flatMap(({ content }) => content);
  return [
    ...noteOf(all.some(isMarked), "messages.content.thinking", "earlier reasoning"),
    ...noteOf(all.some(citesMarked), "messages.content.citations", "citations"),
  ];
}

function noteOf(isSo: boolean, param: string, what: string): Note[] {
  const detail = `the upstream takes ${what} with its own signature only, dropped`;
  return isSo ? [{ param, kind: "dropped", detail }] : [];
}

type Holder = JsonObject & { content: Json[] };

const holdsMarked = (message: Json): message is Holder =>
  isObject(message) &&
  message["role"] === "assistant" &&
  Array.isArray(message["content"]) &&
  message["content"].some((block) => isMarked(block) || citesMarked(block));

const isMarked = (block: Json): boolean =>
  isObject(block) && block["type"] === "thinking" && block["signature"] === unsignedMark;

type Citing = JsonObject & { citations: Json[] };

const citesMarked = (block: Json): block is Citing =>
  isObject(block) && Array.isArray(block["citations"]) && block["citations"].some(isMarkedCitation);

const isMarkedCitation = (citation: Json): boolean =>
  isObject(citation) &&
  (citation["encrypted_index"] === unsignedMark ||
    (typeof citation["source"] === "string" && citation["source"].startsWith(unsignedFile)));

function without(message: Holder): JsonObject {
  const content = message.content
    .filter((block) => !isMarked(block) && !isOnlyMarked(block))
    .map(withoutCitations);
  return { ...message, content: content.length > 0 ? content : [{ ...placeholder }] };
}

/** A text of nothing, for citations that came too late for theirs. */
const isOnlyMarked = (block: Json): boolean => citesMarked(block) && block["text"] === "";

function withoutCitations(block: Json): Json {
  if (!citesMarked(block)) return block;
  const { citations, ...rest } = block;
  const own = citations.filter((citation) => !isMarkedCitation(citation));
  return own.length > 0 ? { ...rest, citations: own } : rest;
}
