/**
 * An answer that comes back as it was streamed. Google's SDKs keep each chunk of a stream as a turn of its own, and send all of them
 * with the next question (`ai.chats`): what is between two pieces is nothing, and a piece may be a space. Requirements: CONV-601.
 */
import type { Message, Part, ProtocolName } from "./canonical/request.ts";

/** Protocols whose clients keep an answer in pieces. */
const inPieces: ReadonlySet<ProtocolName> = new Set(["generate_content"]);

/** The turns with a model's neighbouring texts as one text, and its neighbouring thoughts as one. */
export const joinPieces = (messages: readonly Message[], protocol: ProtocolName): Message[] =>
  messages.map((message) =>
    inPieces.has(protocol) && message.role === "assistant"
      ? { ...message, content: joined(message.content) }
      : message,
  );

/** Texts are put together once, at the end of each run: there may be thousands of pieces. */
function joined(parts: readonly Part[]): Part[] {
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run && goesOn(run.at(-1)!, part)) run.push(part);
    else runs.push([part]);
  }
  return runs.map((run) => {
    const first = run[0]!;
    if (run.length === 1 || !("text" in first)) return first;
    return { ...first, text: run.map((part) => ("text" in part ? part.text : "")).join("") };
  });
}

const goesOn = (before: Part, part: Part): boolean =>
  (before.type === "text" && part.type === "text") ||
  (before.type === "reasoning" &&
    part.type === "reasoning" &&
    before.signature === undefined &&
    part.signature === undefined);
