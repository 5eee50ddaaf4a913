/**
 * Joins answers that clients send back in stream pieces. Google's SDKs keep each chunk as a separate turn and send all of them with the
 * next question (`ai.chats`). So pieces are joined without a separator; a piece may be a single space. Requirements: CONV-601.
 */
import type { Message, Part, ProtocolName } from "./canonical/request.ts";

/** Protocols whose clients keep answers in pieces. */
const piecewiseProtocols: ReadonlySet<ProtocolName> = new Set(["generate_content"]);

/** Joins neighbouring texts, and neighbouring thoughts, of the model's turns. */
export const joinPieces = (messages: readonly Message[], protocol: ProtocolName): Message[] =>
  messages.map((message) =>
    piecewiseProtocols.has(protocol) && message.role === "assistant"
      ? { ...message, content: joinRuns(message.content) }
      : message,
  );

/** Texts are joined once, at the end of each run: there may be thousands of pieces. */
function joinRuns(parts: readonly Part[]): Part[] {
  const runs: Part[][] = [];
  for (const part of parts) {
    const run = runs.at(-1);
    if (run && continuesPrevious(run.at(-1)!, part)) run.push(part);
    else runs.push([part]);
  }
  return runs.map((run) => {
    const first = run[0]!;
    if (run.length === 1 || !("text" in first)) return first;
    return { ...first, text: run.map((part) => ("text" in part ? part.text : "")).join("") };
  });
}

const continuesPrevious = (before: Part, part: Part): boolean =>
  (before.type === "text" && part.type === "text") ||
  (before.type === "reasoning" &&
    part.type === "reasoning" &&
    before.signature === undefined &&
    part.signature === undefined);
