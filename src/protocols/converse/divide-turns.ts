/**
 * Divides turns in which tool blocks refuse other blocks beside them ("Conversation blocks and tool result blocks cannot be provided in the
 * same turn"). Turns must alternate, so a short turn of the other side stands between the halves. T20.
 */
import type { Json, JsonObject } from "../canonical/request.ts";

export type ToolBlock = "toolUse" | "toolResult";

/** The turn between the halves. Results stand first in their turn, and calls last. */
const bridges: Readonly<Record<ToolBlock, JsonObject>> = {
  toolResult: { role: "assistant", content: [{ text: "I have the results." }] },
  toolUse: { role: "user", content: [{ text: "Go on." }] },
};

/** Returns the messages; those with blocks of `alone` and others become two, with a bridge between them. */
export const divideTurns = (
  messages: readonly JsonObject[],
  alone: readonly ToolBlock[],
): JsonObject[] => messages.flatMap((message) => divide(message, alone));

function divide(message: JsonObject, alone: readonly ToolBlock[]): JsonObject[] {
  const content = message["content"] as JsonObject[];
  const kind = alone.find((name) => content.some((block) => name in block));
  if (kind === undefined || content.every((block) => kind in block)) return [message];
  const tools = { ...message, content: content.filter((block) => kind in block) };
  const words = { ...message, content: content.filter((block) => !(kind in block)) };
  return kind === "toolResult"
    ? [tools, bridges.toolResult, words]
    : [words, bridges.toolUse, tools];
}

/** Reports the bridges: the conversation at the vendor then has words that the caller did not write. */
export function describeBridge({ messages }: JsonObject): string | undefined {
  const added = Object.values(bridges).some((bridge) => (messages as Json[]).includes(bridge));
  return added
    ? "a short turn added between tools and the words beside them: the upstream refuses them side by side"
    : undefined;
}
