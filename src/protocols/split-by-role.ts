/**
 * Moves parts to turns whose role can have them. Calls and reasoning belong to a model, whatever the role of their turn; a refusal outside
 * an answer becomes text. Targets would lose them otherwise. Requirements: CONV; trap T33.
 */
import type { Message, Part } from "./canonical/request.ts";

/** Returns the turns with only parts that their role can have. Nothing is lost. */
export const splitByRole = (messages: readonly Message[]): Message[] =>
  messages.flatMap((message) => (isPlain(message) ? [message] : splitMessage(message)));

const isModelPart = ({ type }: Part): boolean => type === "tool_call" || type === "reasoning";

const isPlain = ({ role, content }: Message): boolean =>
  content.every((part) =>
    part.type === "tool_result"
      ? part.content.every(({ type }) => type !== "refusal")
      : role === "assistant" || !(isModelPart(part) || part.type === "refusal"),
  );

/** Splits a turn whose parts belong to several roles, in order. */
function splitMessage(message: Message): Message[] {
  const turns: { message: Message; content: Part[] }[] = [];
  for (const part of message.content) {
    const speaker: Message = isModelPart(part) ? { role: "assistant", content: [] } : message;
    const said = speaker.role === "assistant" && part.type !== "tool_result" ? part : asText(part);
    const last = turns.at(-1);
    if (last && last.message.role === speaker.role) last.content.push(said);
    else turns.push({ message: speaker, content: [said] });
  }
  return turns.map(({ message: speaker, content }) => ({ ...speaker, content }));
}

function asText(part: Part): Part {
  if (part.type === "refusal") return { type: "text", text: part.text };
  return part.type === "tool_result" ? { ...part, content: part.content.map(asText) } : part;
}
