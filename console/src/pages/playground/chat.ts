/** Chat completions for the playground: builds bodies and parses answers. Pure. */
import type { ChatInput, Piece, Message } from "./conversation.ts";
import { at, listAt, textAt } from "./json.ts";

const contentOf = ({ text, pictures }: Message): unknown =>
  pictures.length === 0
    ? text
    : [
        { type: "text", text },
        ...pictures.map(({ mediaType, base64 }) => ({
          type: "image_url",
          image_url: { url: `data:${mediaType};base64,${base64}` },
        })),
      ];

export function body({ system, said, tools, fields }: ChatInput): Record<string, unknown> {
  return {
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      ...said.map((one) => ({ role: one.role, content: contentOf(one) })),
    ],
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: "function", function: tool })),
    }),
    ...fields,
  };
}

/** Parses a frame, or a whole answer. */
export function pieces(frame: unknown): Piece[] {
  const choice = at(frame, "choices", 0);
  const said = at(choice, "delta") ?? at(choice, "message");
  const calls = listAt(said, "tool_calls").map((call, index): Piece => {
    const name = textAt(call, "function", "name");
    return {
      kind: "call",
      at: JSON.stringify(at(call, "index") ?? index),
      ...(name !== "" && { name }),
      arguments: textAt(call, "function", "arguments"),
    };
  });
  return [
    { kind: "thought", text: textAt(said, "reasoning_content") },
    { kind: "text", text: textAt(said, "content") || textAt(said, "refusal") },
    ...calls,
  ];
}
