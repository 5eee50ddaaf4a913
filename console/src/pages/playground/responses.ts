/** The responses protocol for the playground. Pure. */
import type { ChatInput, Piece, Message } from "./conversation.ts";
import { at, listAt, textAt } from "./json.ts";

const contentOf = ({ role, text, pictures }: Message): unknown[] => [
  { type: role === "user" ? "input_text" : "output_text", text },
  ...pictures.map(({ mediaType, base64 }) => ({
    type: "input_image",
    image_url: `data:${mediaType};base64,${base64}`,
  })),
];

export function body({ system, said, tools, fields }: ChatInput): Record<string, unknown> {
  return {
    ...(system !== "" && { instructions: system }),
    input: said.map((one) => ({ role: one.role, content: contentOf(one) })),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
    ...fields,
  };
}

/** Parses a whole item of the output. */
function ofItem(item: unknown): Piece[] {
  const type = textAt(item, "type");
  if (type === "function_call") return [begun(item, textAt(item, "arguments"))];
  if (type === "reasoning")
    return listAt(item, "summary").map((part) => ({ kind: "thought", text: textAt(part, "text") }));
  return listAt(item, "content").map((part) => ({
    kind: "text",
    text: textAt(part, "text") || textAt(part, "refusal"),
  }));
}

const begun = (item: unknown, text: string): Piece => ({
  kind: "call",
  at: textAt(item, "id"),
  name: textAt(item, "name"),
  arguments: text,
});

/** Parses a frame, or a whole answer, which has no type. */
export function pieces(frame: unknown): Piece[] {
  const delta = textAt(frame, "delta");
  switch (textAt(frame, "type")) {
    case "":
      return listAt(frame, "output").flatMap(ofItem);
    case "response.output_text.delta":
    case "response.refusal.delta":
      return [{ kind: "text", text: delta }];
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return [{ kind: "thought", text: delta }];
    case "response.output_item.added": {
      const item = at(frame, "item");
      return textAt(item, "type") === "function_call" ? [begun(item, "")] : [];
    }
    case "response.function_call_arguments.delta":
      return [{ kind: "call", at: textAt(frame, "item_id"), arguments: delta }];
    // OpenAI's error event has no `error` object.
    case "error":
      return [{ kind: "error", text: textAt(frame, "message") }];
    case "response.failed":
      return [{ kind: "error", text: textAt(frame, "response", "error", "message") }];
    default:
      return [];
  }
}
