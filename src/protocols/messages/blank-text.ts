/**
 * Texts of white space only, on the direct route to Claude, which refuses a request with one ("text content blocks must be non-empty"). Other
 * vendors of this protocol, such as MiniMax, begin answers with them, and Claude Code adds them to answers of only calls. Claude also refuses
 * earlier answers without content, which it gives itself, and those that end with thinking. Conversions have the same rules. T25.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { placeholderText } from "../tidy.ts";
import { isClaude } from "./call-ids.ts";
import { isThinking } from "./unsigned-loop.ts";

/** Content of an otherwise empty message or error, as in conversions. */
const placeholder = { type: "text", text: placeholderText } as const;

/**
 * Removes blank texts from `body`, a copy of the caller's, if `model` is Claude, and fills earlier answers that say nothing then. Changed
 * messages are copied, the others shared. Nothing is lost, so this is not noted.
 */
export function removeBlankTexts(body: JsonObject, model: string): void {
  if (!isClaude(model)) return;
  const [system, messages] = [exactTwinOf(body["system"]), exactTwinOf(body["messages"])];
  if (Array.isArray(system) && system.some(isBlank)) {
    const kept = system.filter((block) => !isBlank(block));
    if (kept.length > 0) body["system"] = kept;
    else delete body["system"];
  }
  if (!Array.isArray(messages)) return;
  const filled = messages.map((message, at) => {
    const kept = holdsBlank(message) ? without(message) : message;
    const next = messages[at + 1];
    // The last answer may be empty: the model continues it. Answers side by side are one for the vendor.
    return isAnswer(kept) && next !== undefined && !isAnswer(next) ? withWords(kept) : kept;
  });
  if (filled.some((message, at) => message !== messages[at])) body["messages"] = filled;
}

const isAnswer = (message: Json): message is JsonObject =>
  isObject(message) && message["role"] === "assistant";

/** Returns an answer that has content, and does not end with thinking. */
function withWords(answer: JsonObject): JsonObject {
  const { content } = answer;
  if (typeof content === "string")
    return /\S/u.test(content) ? answer : { ...answer, content: placeholderText };
  if (!Array.isArray(content)) return answer;
  const last = content.at(-1);
  const isDone = last !== undefined && !isThinking(last);
  return isDone ? answer : { ...answer, content: [...content, { ...placeholder }] };
}

const isBlank = (block: Json): boolean =>
  isObject(block) &&
  block["type"] === "text" &&
  typeof block["text"] === "string" &&
  !/\S/u.test(block["text"]);

type Holder = JsonObject & { content: Json[] };

/** True for a message or a tool's result with a blank text, also in a result within it. */
const holdsBlank = (holder: Json): holder is Holder =>
  isObject(holder) &&
  Array.isArray(holder["content"]) &&
  holder["content"].some((block) => isBlank(block) || (isResult(block) && holdsBlank(block)));

const isResult = (block: Json): block is JsonObject =>
  isObject(block) && block["type"] === "tool_result";

function without(holder: Holder): JsonObject {
  const content = holder.content
    .filter((block) => !isBlank(block))
    .map((block) => (isResult(block) && holdsBlank(block) ? without(block) : block));
  // Only the result of a tool may be empty, unless it is an error.
  const isFull = content.length > 0 || (isResult(holder) && holder["is_error"] !== true);
  return { ...holder, content: isFull ? content : [{ ...placeholder }] };
}
