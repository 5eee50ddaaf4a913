/**
 * The stored answer of an image call, for a repeat with its idempotency key. The body is a file. The names of changed parameters,
 * which a header reports, are a parameter of its media type. docs/decisions.md "Idempotency".
 */
import { noteHeader, type Note } from "../base/notes.ts";
import { formatSse } from "../base/sse.ts";
import type { FileDrafts, FileRow } from "../files/index.ts";
import { droppedNames } from "./reply.ts";

/** An answer as the caller gets it; an event of a stream if it has a type. */
export type Answer = Readonly<Record<string, unknown>>;

/** The answer to send again. */
export interface Replay extends Pick<FileRow, "name"> {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
}

const parameter = "; dropped=";

/** Writes an answer and returns the name of its file. */
export async function keepAnswer(
  kept: FileDrafts,
  answer: Answer,
  notes: readonly Note[],
): Promise<string> {
  const { type } = answer;
  const data = JSON.stringify(answer);
  const [bare, text] =
    typeof type === "string"
      ? ["text/event-stream", formatSse({ event: type, data })]
      : ["application/json", data];
  const dropped = noteHeader(notes);
  const mediaType =
    dropped === undefined ? bare : `${bare}${parameter}${encodeURIComponent(dropped)}`;
  const { name } = await kept.put({ purpose: "answer", mediaType, source: Buffer.from(text) });
  return name;
}

/** Returns the replay of a stored answer, from the row of its file. */
export function replayOf({ name, mediaType: stored }: FileRow): Replay {
  const [mediaType = stored, dropped] = stored.split(parameter);
  return { name, mediaType, headers: droppedNames(dropped && decodeURIComponent(dropped)) };
}
