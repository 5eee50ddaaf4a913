/**
 * Proofs of earlier thoughts: signatures, which only the vendor or account that made them can verify. If all of them refuse, the request goes
 * without, and with Google's marker where it requires a signature. T38, T43.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { ChangedBody } from "../codec.ts";
import { isEmptyList } from "../read.ts";
import { skipSignatureInAnswers } from "../skip-signature.ts";
import { placeholderText } from "../tidy.ts";
import { signatureOf } from "./parts.ts";

/** Returns a copy of the caller's body without signatures; undefined if it has none. */
export function withoutProofs(body: JsonObject): ChangedBody | undefined {
  const contents = exactTwinOf(body["contents"]);
  if (!Array.isArray(contents) || !contents.some(holdsProof)) return undefined;
  const detail = "the upstream refuses signatures of another vendor or account, dropped";
  return {
    body: { ...body, contents: contents.map(unproven).flatMap(withText) },
    notes: [{ param: "contents.parts.thoughtSignature", kind: "dropped", detail }],
  };
}

type Holder = JsonObject & { parts: Json[] };

const holdsProof = (content: Json): content is Holder =>
  isObject(content) && Array.isArray(content["parts"]) && content["parts"].some(isProven);

const isProven = (part: Json): part is JsonObject =>
  isObject(part) && signatureOf(part) !== undefined;

function unproven(content: Json): Json {
  if (!holdsProof(content)) return content;
  const parts = content.parts.map((part) => (isProven(part) ? unsigned(part) : part));
  return { ...content, parts: parts.filter((part) => !isEmpty(part)) };
}

/**
 * A content that only had a signature is left out after another one of the model: Google's SDKs keep each chunk of a stream as a content.
 * Otherwise it gets a text, because Gemini refuses empty ones.
 */
function withText(content: Json, at: number, all: readonly Json[]): Json[] {
  if (!isObject(content) || !isEmptyList(content["parts"])) return [content];
  const before = all[at - 1];
  if (isObject(before) && before["role"] === "model" && content["role"] === "model") return [];
  return [{ ...content, parts: [{ text: placeholderText }] }];
}

/**
 * A call gets the marker in place of its signature, and so do a picture and a text, which picture models require to be signed. The direct
 * route removes it where the model needs none.
 */
function unsigned(part: JsonObject): JsonObject {
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return part["thought"] === true || isEmpty(rest)
    ? rest
    : { ...rest, thoughtSignature: skipSignatureInAnswers };
}

/** True for a part that only carried its signature. */
const isEmpty = (part: Json): boolean =>
  isObject(part) &&
  Object.entries(part).every(([name, value]) => name === "thought" || value === "");
