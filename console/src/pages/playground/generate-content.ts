/** generateContent for the playground. Pure. */
import type { ChatInput, Piece, Message } from "./conversation.ts";
import { at, listAt, textAt } from "./json.ts";

const partsOf = ({ text, pictures }: Message): unknown[] => [
  ...pictures.map(({ mediaType, base64 }) => ({
    inlineData: { mimeType: mediaType, data: base64 },
  })),
  { text },
];

export function body({ system, said, tools, fields }: ChatInput): Record<string, unknown> {
  return {
    contents: said.map((one) => ({
      role: one.role === "user" ? "user" : "model",
      parts: partsOf(one),
    })),
    ...(system !== "" && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools }] }),
    ...fields,
  };
}

function ofPart(part: unknown): Piece {
  const name = textAt(part, "functionCall", "name");
  if (name !== "") {
    const text = JSON.stringify(at(part, "functionCall", "args") ?? {});
    // Each call arrives complete, in its own frame or with others.
    return { kind: "call", at: undefined, name, arguments: text };
  }
  return { kind: at(part, "thought") === true ? "thought" : "text", text: textAt(part, "text") };
}

/** Parses a frame, or a whole answer. */
export const pieces = (frame: unknown): Piece[] =>
  listAt(frame, "candidates", 0, "content", "parts").map(ofPart);
