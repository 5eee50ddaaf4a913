/** A conversation, independent of its protocol. Pure. */

/** An image to send in a call. */
export interface Picture {
  readonly mediaType: string;
  readonly base64: string;
  readonly name: string;
}

export interface Message {
  readonly role: "user" | "assistant";
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly parameters: object;
}

/** The content of a request. */
export interface ChatInput {
  readonly system: string;
  readonly said: readonly Message[];
  readonly tools: readonly Tool[];
  /** Further fields of the protocol's body, built by parameters.ts. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A piece of an answer, in order of arrival. */
export type Piece =
  | { readonly kind: "text" | "thought"; readonly text: string }
  /** `at` identifies the call; the first piece has its name, arguments are fragments of JSON. Undefined: a whole call of its own. */
  | {
      readonly kind: "call";
      readonly at: string | undefined;
      readonly name?: string;
      readonly arguments?: string;
    }
  | { readonly kind: "error"; readonly text: string }
  /** The maximum of output was reached. */
  | { readonly kind: "cut" };

export interface ToolCall {
  readonly at: string;
  readonly name: string;
  readonly arguments: string;
}

/** The answer received so far. */
export interface Content {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly ToolCall[];
  /** An error in the middle of a stream. */
  readonly fault: string;
  /** True if it ended at the maximum of output. */
  readonly isCut: boolean;
}

export const nothing: Content = { text: "", thought: "", calls: [], fault: "", isCut: false };

function withCall(calls: readonly ToolCall[], piece: Extract<Piece, { kind: "call" }>): ToolCall[] {
  const place = piece.at ?? `whole ${calls.length}`;
  const known = calls.some(({ at }) => at === place);
  const all = known ? calls : [...calls, { at: place, name: "", arguments: "" }];
  return all.map((call) =>
    call.at === place
      ? {
          ...call,
          name: piece.name ?? call.name,
          arguments: call.arguments + (piece.arguments ?? ""),
        }
      : call,
  );
}

/** Returns the content with one more piece. */
export function withPiece(content: Content, piece: Piece): Content {
  switch (piece.kind) {
    case "text":
      return { ...content, text: content.text + piece.text };
    case "thought":
      return { ...content, thought: content.thought + piece.text };
    case "error":
      return { ...content, fault: piece.text };
    case "cut":
      return { ...content, isCut: true };
    case "call":
      return { ...content, calls: withCall(content.calls, piece) };
  }
}
