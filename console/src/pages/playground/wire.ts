/** The four protocols by name, and the parsing that they share. Pure. */
import type { Protocol } from "../../base/code.ts";
import * as chat from "./chat.ts";
import type { ChatInput, Piece } from "./conversation.ts";
import * as generateContent from "./generate-content.ts";
import { at, textAt } from "./json.ts";
import * as messages from "./messages.ts";
import * as responses from "./responses.ts";

interface Wire {
  readonly body: (input: ChatInput) => Record<string, unknown>;
  readonly pieces: (frame: unknown) => Piece[];
}

const wires: Readonly<Record<Protocol, Wire>> = {
  chat,
  responses,
  messages,
  generate_content: generateContent,
};

export const bodyOf = (protocol: Protocol, input: ChatInput): Record<string, unknown> =>
  wires[protocol].body(input);

/** The pieces that a stream frame, or a whole answer, adds. */
export function piecesOf(protocol: Protocol, frame: unknown): Piece[] {
  const error = at(frame, "error");
  const pieces =
    typeof error === "object" && error !== null
      ? [{ kind: "error" as const, text: textAt(error, "message") }]
      : wires[protocol].pieces(frame);
  const told = pieces.flatMap((piece) => {
    if (!("text" in piece) || piece.text !== "") return [piece];
    return piece.kind === "error" ? [{ ...piece, text: "The stream ended with an error." }] : [];
  });
  return endsAtMaximum(frame) ? [...told, { kind: "cut" }] : told;
}

/** The words of all protocols for an answer that reached its maximum. */
const maximumWords = new Set([
  "length",
  "max_tokens",
  "max_output_tokens",
  "model_context_window_exceeded",
  "MAX_TOKENS",
]);

/** True for the end of such an answer, streamed or whole. No two protocols have their word at the same place. */
const endsAtMaximum = (frame: unknown): boolean =>
  [
    textAt(frame, "choices", 0, "finish_reason"),
    textAt(frame, "delta", "stop_reason"),
    textAt(frame, "stop_reason"),
    textAt(frame, "candidates", 0, "finishReason"),
    textAt(frame, "response", "incomplete_details", "reason"),
    textAt(frame, "incomplete_details", "reason"),
  ].some((word) => maximumWords.has(word));

const lineEnd = /\r\n|\r|\n/;

/**
 * Yields the frames of an SSE stream as parsed JSON. Frames that are not JSON (`[DONE]`) are skipped.
 * @throws whatever reading the body throws, such as an abort
 */
export async function* framesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value = "" } = await reader.read();
      // Only the new text is searched: a line with an image comes in many chunks.
      const [begin = "", ...more] = value.split(lineEnd);
      const lines = [rest + begin, ...more];
      // An incomplete line. A CRLF split between chunks gives an empty line, which is ignored.
      rest = done ? "" : lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data:")) continue;
        const frame = parsed(line.slice("data:".length));
        if (frame !== undefined) yield frame;
      }
      if (done) return;
    }
  } finally {
    // Ends the call at once when the consumer stops early, without draining it.
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
