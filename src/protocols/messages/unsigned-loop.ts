/**
 * Tool loops and answers that another vendor began. Claude refuses `thinking` with a budget if such a loop, or an answer that it has to
 * continue, does not begin with its own signed thinking. Adaptive thinking has no such rule. T39.
 */
import { isObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isClaude } from "./call-ids.ts";
import { unsignedAt } from "./unsigned.ts";

/**
 * Switches thinking off in `body`, a copy of the caller's without foreign thinking, if the conversation ends in a tool loop or an answer
 * that another vendor began. Edits of the context that require thinking are left out too.
 * @param before the same messages with foreign thinking, at the same positions
 * @param model the upstream's name of the model
 */
export function disableThinkingInLoop(
  body: JsonObject,
  before: Json | undefined,
  model: string,
): Note[] {
  const { thinking, messages, context_management: management } = body;
  if (!isObject(thinking) || thinking["type"] !== "enabled") return [];
  if (!Array.isArray(messages) || !Array.isArray(before)) return [];
  const start = loopStart(messages);
  if (start === undefined) return [];
  const blocks = blocksOf(messages[start]);
  if (isThinking(blocks[0])) return [];
  const lostThinking = blocksOf(before[start]).some(unsignedAt(model));
  if (!lostThinking && !(isClaude(model) && hasForeignCalls(blocks))) return [];
  delete body["thinking"];
  const what =
    start === messages.length - 1
      ? "the beginning of an answer"
      : "a tool call made without signed reasoning";
  const detail = `the upstream refuses reasoning beside ${what}, dropped`;
  const note: Note = { param: "thinking", kind: "dropped", detail };
  if (!isObject(management) || !Array.isArray(management["edits"])) return [note];
  const edits = management["edits"].filter((edit) => !needsThinking(edit));
  if (edits.length === management["edits"].length) return [note];
  if (edits.length > 0) body["context_management"] = { ...management, edits };
  else delete body["context_management"];
  const why = "an edit of the context that requires thinking, dropped";
  return [note, { param: "context_management", kind: "dropped", detail: why }];
}

/**
 * Returns the position of the answer with which the tool loop at the end of the conversation began, or of an unfinished answer there;
 * undefined if it ends in neither. Words of the user beside or after the results belong to the loop.
 */
function loopStart(messages: readonly Json[]): number | undefined {
  let start: number | undefined;
  let hasResult = false;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    if (!isAnswer(messages[at])) {
      hasResult ||= blocksOf(messages[at]).some(isResult);
      continue;
    }
    const continues = isAnswer(messages[at + 1]);
    const isUnfinished = at === messages.length - 1;
    if (!continues && !hasResult && !isUnfinished) return start;
    start = at;
    hasResult = false;
  }
  return start;
}

const isAnswer = (message: Json | undefined): boolean =>
  isObject(message) && message["role"] === "assistant";

const blocksOf = (message: Json | undefined): readonly Json[] =>
  isObject(message) && Array.isArray(message["content"]) ? message["content"] : [];

/** Claude's own ids begin like this, also at the clouds; a call with another id was made by another vendor. */
const ownId = /^tool(?:u|use)_/;

function hasForeignCalls(blocks: readonly Json[]): boolean {
  const ids = blocks.flatMap((block) =>
    isObject(block) && block["type"] === "tool_use" && typeof block["id"] === "string"
      ? [block["id"]]
      : [],
  );
  return ids.length > 0 && !ids.some((id) => ownId.test(id));
}

const isResult = (block: Json): boolean => isObject(block) && block["type"] === "tool_result";

export const isThinking = (block: Json | undefined): boolean =>
  isObject(block) && (block["type"] === "thinking" || block["type"] === "redacted_thinking");

const needsThinking = (edit: Json): boolean =>
  isObject(edit) && typeof edit["type"] === "string" && edit["type"].startsWith("clear_thinking");
