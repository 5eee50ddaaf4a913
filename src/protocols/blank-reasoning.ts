/**
 * Answers of earlier turns without their reasoning, towards models that refuse a conversation with calls for one: other models
 * made them, or clients that keep no reasoning. A blank stands for it. Traps T39, T41.
 */
import type { Message, ReasoningPart } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";

const blank: ReasoningPart = { type: "reasoning", text: " " };

/** The conversation as such a model takes it; itself for any other, or where no tool was called. */
export function withReasoning(
  messages: readonly Message[],
  { needsReasoning, unsignedReasoning }: Pick<Limits, "needsReasoning" | "unsignedReasoning">,
): readonly Message[] {
  if (!needsReasoning || !unsignedReasoning || !messages.some(holdsCall)) return messages;
  return messages.map((message) =>
    message.role === "assistant" && !message.content.some(isReasoning)
      ? { ...message, content: [blank, ...message.content] }
      : message,
  );
}

const holdsCall = ({ content }: Message): boolean =>
  content.some(({ type }) => type === "tool_call");
const isReasoning = ({ type }: Message["content"][number]): boolean => type === "reasoning";
