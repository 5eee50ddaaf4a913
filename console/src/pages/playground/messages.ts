/** The messages protocol for the playground. Pure. */
import type { ChatInput, Piece, Message } from "./conversation.ts";
import { at, listAt, textAt } from "./json.ts";

/** The protocol requires a maximum; this is used if the form has none. */
const tokensMax = 1024;

const contentOf = ({ text, pictures }: Message): unknown =>
  pictures.length === 0
    ? text
    : [
        ...pictures.map(({ mediaType, base64 }) => ({
          type: "image",
          source: { type: "base64", media_type: mediaType, data: base64 },
        })),
        { type: "text", text },
      ];

export function body({ system, said, tools, fields }: ChatInput): Record<string, unknown> {
  return {
    max_tokens: tokensMax,
    ...(system !== "" && { system }),
    messages: said.map((one) => ({ role: one.role, content: contentOf(one) })),
    ...(tools.length > 0 && {
      tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
    ...fields,
  };
}

/** Parses a block at its start, or a whole one. */
function ofBlock(block: unknown, index: unknown): Piece[] {
  switch (textAt(block, "type")) {
    case "text":
      return [{ kind: "text", text: textAt(block, "text") }];
    case "thinking":
      return [{ kind: "thought", text: textAt(block, "thinking") }];
    case "tool_use": {
      const input = at(block, "input") ?? {};
      const text = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
      const name = textAt(block, "name");
      return [{ kind: "call", at: JSON.stringify(index), name, arguments: text }];
    }
    default:
      return [];
  }
}

function ofDelta(delta: unknown, index: unknown): Piece[] {
  return [
    { kind: "text", text: textAt(delta, "text") },
    { kind: "thought", text: textAt(delta, "thinking") },
    ...(textAt(delta, "type") === "input_json_delta"
      ? [
          {
            kind: "call" as const,
            at: JSON.stringify(index),
            arguments: textAt(delta, "partial_json"),
          },
        ]
      : []),
  ];
}

/** Parses a frame, or a whole answer. */
export function pieces(frame: unknown): Piece[] {
  const index = at(frame, "index");
  switch (textAt(frame, "type")) {
    case "message":
      return listAt(frame, "content").flatMap(ofBlock);
    case "content_block_start":
      return ofBlock(at(frame, "content_block"), index);
    case "content_block_delta":
      return ofDelta(at(frame, "delta"), index);
    default:
      return [];
  }
}
