/**
 * DeepSeek in this protocol. It requires thinking in each earlier answer of a conversation with tools, unless thinking is off, and checks
 * no signature. Other vendors wrote these answers, or the client keeps no thinking. Chat has the same rule. Traps T39, T41.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import { isEmptyList, isSet, list, objectOf } from "../read.ts";

const deepseek = /(?:^|[/._-])deepseek/i;

/** True if `model` reads the thinking of earlier answers with any signature. */
export const readsAnyThinking = ({ thinking }: JsonObject, model: string): boolean =>
  deepseek.test(model) && objectOf(thinking)["type"] !== "disabled";

/**
 * Adds blank thinking to the answers of `body`, a copy of the caller's or a conversion's, that have none. Changed messages are copied, the others shared.
 * Nothing is lost, so this is not noted.
 */
export function fillThinking(body: JsonObject, model: string): void {
  const messages = exactTwinOf(body["messages"]);
  if (!readsAnyThinking(body, model) || !Array.isArray(messages)) return;
  const hasTools = isSet(body["tools"]) && !isEmptyList(body["tools"]);
  if (!(hasTools || messages.some(calls)) || !messages.some(lacksThinking)) return;
  body["messages"] = messages.map((message) =>
    lacksThinking(message)
      ? { ...message, content: [{ ...blank }, ...blocksIn(message)] }
      : message,
  );
}

const blank = { type: "thinking", thinking: " ", signature: "" };

type Answer = JsonObject & { content: Json };

const blocksIn = ({ content }: Answer): Json[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
};

const hasBlock = (message: Json, type: string): boolean =>
  isObject(message) &&
  list(message["content"]).some((block) => isObject(block) && block["type"] === type);

const calls = (message: Json): boolean => hasBlock(message, "tool_use");

const lacksThinking = (message: Json): message is Answer =>
  isObject(message) &&
  message["role"] === "assistant" &&
  isSet(message["content"]) &&
  !hasBlock(message, "thinking");
