/**
 * The answer of an image call, as it is kept for whoever sends it again with its idempotency key: the bytes are a file, and
 * the names of what was changed in the request, which a header told, are a parameter of its media type. docs/decisions.md "Idempotency".
 */
import { noteHeader, type Note } from "../base/notes.ts";
import { formatSse } from "../base/sse.ts";
import type { FileDrafts, FileRow } from "../files/index.ts";
import { droppedNames } from "./reply.ts";

/** An answer as the caller gets it: an event of a stream where it has a type. */
export type Answer = Readonly<Record<string, unknown>>;

/** What is sent again. */
export interface Replay extends Pick<FileRow, "name"> {
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string>>;
}

const parameter = "; dropped=";

/** Writes an answer; the name of its file. */
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

/** A kept answer, from the row of its file. */
export function replayOf({ name, mediaType: stored }: FileRow): Replay {
  const [mediaType = stored, dropped] = stored.split(parameter);
  return { name, mediaType, headers: droppedNames(dropped && decodeURIComponent(dropped)) };
}
