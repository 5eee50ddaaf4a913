/** Where a call's answer goes. The HTTP layer implements it; nothing here knows HTTP. */
import { noteHeader, type Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";

export interface Reply {
  /** Sends a whole answer. */
  whole(body: object, headers: Readonly<Record<string, string>>): void;
  /** Headers of a stream, sent with its first frame or keep-alive in one write; the last call before that counts. */
  open(headers: Readonly<Record<string, string>>): void;
  /** True once anything of a stream was sent: from then on errors travel inside the stream. */
  readonly started: boolean;
  /** True once `whole` or `end` was called. */
  readonly ended: boolean;
  /** Sends frames, each in one write. False when the client reads slower than they come: wait for `onDrain`. */
  write(frames: readonly SseEvent[]): boolean;
  /** Something that every client skips, to keep an idle connection open (T88). */
  keepAlive(): void;
  /** Sends the last frames and ends the stream. */
  end(frames: readonly SseEvent[]): void;
  onDrain(handler: () => void): void;
  /** Called once when the client is gone before the answer was complete; at once when it is gone already. */
  onGone(handler: () => void): void;
  readonly gone: boolean;
}

/** The header that names what was changed in the request, where anything was; for streams and answers without a `gw`. */
export const droppedHeader = (notes: readonly Note[]): Readonly<Record<string, string>> =>
  droppedNames(noteHeader(notes));

/** The same from the names as they are joined. */
export const droppedNames = (names: string | undefined): Readonly<Record<string, string>> =>
  names === undefined ? {} : { "x-gw-dropped-params": names };
