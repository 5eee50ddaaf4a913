/**
 * Fills in earlier answers without reasoning, for models that refuse such a conversation when it has calls. Other models wrote these
 * answers, or the client keeps no reasoning. A blank replaces it. Traps T39, T41.
 */
import type { Message, ReasoningPart } from "./canonical/request.ts";
import type { Limits } from "./limits.ts";

const blank: ReasoningPart = { type: "reasoning", text: " " };

/**
 * Returns the conversation with reasoning in each assistant turn; unchanged for other models, or if it has no calls. With tools the first
 * call may still come: earlier answers have the blank already, so that a prompt cache still matches then.
 */
export function withBlankReasoning(
  messages: readonly Message[],
  { needsReasoning, unsignedReasoning }: Pick<Limits, "needsReasoning" | "unsignedReasoning">,
  hasTools: boolean,
): readonly Message[] {
  if (!needsReasoning || !unsignedReasoning || !(hasTools || messages.some(hasCall)))
    return messages;
  return messages.map((message) =>
    message.role === "assistant" && !message.content.some(isReasoning)
      ? { ...message, content: [blank, ...message.content] }
      : message,
  );
}

const hasCall = ({ content }: Message): boolean => content.some(({ type }) => type === "tool_call");
const isReasoning = ({ type }: Message["content"][number]): boolean => type === "reasoning";
