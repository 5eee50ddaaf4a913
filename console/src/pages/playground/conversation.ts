/** A conversation as the page holds it, whatever protocol it is sent in. Pure. */

/** A picture that goes into a call. */
export interface Picture {
  readonly mediaType: string;
  readonly base64: string;
  readonly name: string;
}

export interface Said {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** A function that the model may ask for. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly parameters: object;
}

/** What is asked. */
export interface Ask {
  readonly system: string;
  readonly said: readonly Said[];
  readonly tools: readonly Tool[];
  /** Fields of the protocol's own body, put together by parameters.ts. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A piece of an answer, in the order it came. */
export type Piece =
  | { readonly kind: "text" | "thought"; readonly text: string }
  /** `at` names the call; a name begins it, arguments are pieces of JSON. */
  | {
      readonly kind: "call";
      readonly at: string;
      readonly name?: string;
      readonly arguments?: string;
    }
  | { readonly kind: "error"; readonly text: string };

export interface ToolCall {
  readonly at: string;
  readonly name: string;
  readonly arguments: string;
}

/** What has come of an answer so far. */
export interface Content {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly ToolCall[];
  /** What went wrong in the middle of a stream. */
  readonly fault: string;
}

export const nothing: Content = { text: "", thought: "", calls: [], fault: "" };

function withCall(calls: readonly ToolCall[], piece: Extract<Piece, { kind: "call" }>): ToolCall[] {
  const known = calls.some(({ at }) => at === piece.at);
  const all = known ? calls : [...calls, { at: piece.at, name: "", arguments: "" }];
  return all.map((call) =>
    call.at === piece.at
      ? {
          ...call,
          name: piece.name ?? call.name,
          arguments: call.arguments + (piece.arguments ?? ""),
        }
      : call,
  );
}

/** What there is with one more piece. */
export function withPiece(content: Content, piece: Piece): Content {
  switch (piece.kind) {
    case "text":
      return { ...content, text: content.text + piece.text };
    case "thought":
      return { ...content, thought: content.thought + piece.text };
    case "error":
      return { ...content, fault: piece.text };
    case "call":
      return { ...content, calls: withCall(content.calls, piece) };
  }
}
