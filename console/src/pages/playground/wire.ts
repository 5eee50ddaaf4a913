/** The four protocols by name, and what all their answers have in common. Pure. */
import type { Protocol } from "../../base/code.ts";
import * as chat from "./chat.ts";
import type { Ask, Piece } from "./conversation.ts";
import * as generateContent from "./generate-content.ts";
import { at, textAt } from "./json.ts";
import * as messages from "./messages.ts";
import * as responses from "./responses.ts";

interface Wire {
  readonly body: (ask: Ask) => Record<string, unknown>;
  readonly pieces: (frame: unknown) => Piece[];
}

const wires: Readonly<Record<Protocol, Wire>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

export const bodyOf = (protocol: Protocol, ask: Ask): Record<string, unknown> =>
  wires[protocol].body(ask);

/** What a frame of a stream, or a whole answer, adds to what there is. */
export function piecesOf(protocol: Protocol, frame: unknown): Piece[] {
  const error = at(frame, "error");
  if (typeof error === "object" && error !== null)
    return [{ kind: "error", text: textAt(error, "message") || "The stream ended with an error." }];
  return wires[protocol].pieces(frame).filter((piece) => !("text" in piece) || piece.text !== "");
}

const lineEnd = /\r\n|\r|\n/;

/**
 * The frames of a stream of server-sent events, as JSON, as they arrive. What is no JSON (`[DONE]`) is left out.
 * @throws whatever reading the body throws, such as an abort
 */
export async function* framesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value = "" } = await reader.read();
      const lines = (rest + value).split(lineEnd);
      // A line whose end has not come; of "\r\n" cut in two, an empty line comes of it, which says nothing.
      rest = done ? "" : lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const frame = parsed(line.slice("data:".length));
        if (frame !== undefined) yield frame;
      }
      if (done) return;
    }
  } finally {
    // Nobody reads on: the call is to end, not to be read to its end.
    await reader.cancel().catch(() => undefined);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
