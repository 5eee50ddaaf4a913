/**
 * Content of a direct answer as one text. Mistral's models answer with a list of thoughts, texts and references when they reason or have
 * searched. OpenAI's protocol has a text there, and its clients fail at a list: SDKs in Rust, Go, Swift and Java, the AI SDK's
 * openai-compatible, Microsoft's Agent Framework. Conversions read the list as well. TXT-10.
 */
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import { member, nonEmpty } from "../read.ts";
import { readOutput } from "./output.ts";

/** The kinds of parts at Mistral. Lists with others, such as pictures or signed reasoning, stay: they would lose something. */
const kinds: ReadonlySet<unknown> = new Set(["text", "thinking", "reference"]);

/** True if a message or delta has such a list. */
export const hasListedContent = ({ content }: { readonly content?: unknown }): boolean =>
  Array.isArray(content) && content.every(isPlain);

const isPlain = (part: unknown): boolean =>
  isObject(part) && kinds.has(part["type"]) && nonEmpty(part["signature"]) === undefined;

/** Returns a message or delta with its content as text, and its thoughts in the member that most vendors have for them. */
export function withPlainContent(said: JsonObject): JsonObject {
  if (!hasListedContent(said)) return said;
  const { texts, reasoning } = readOutput(said);
  return { ...said, content: texts.join(""), ...member("reasoning_content", nonEmpty(reasoning)) };
}
