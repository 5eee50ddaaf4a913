/** The destination of a call's answer. The HTTP layer implements it; this folder does not depend on HTTP. */
import { noteHeader, type Note } from "../base/notes.ts";
import type { SseEvent } from "../base/sse.ts";

export interface Reply {
  /** Sends a whole answer. */
  whole(body: object, headers: Readonly<Record<string, string>>): void;
  /**
   * Sets the headers of a stream. They are sent with its first frame or keep-alive in one write; until then a later call replaces
   * them.
   */
  open(headers: Readonly<Record<string, string>>): void;
  /** True once any part of a stream was sent: from then on errors are sent inside the stream. */
  readonly started: boolean;
  /** True once `whole` or `end` was called. */
  readonly ended: boolean;
  /** Sends frames, each in one write. Returns false when the client reads too slowly: wait for `onDrain`. */
  write(frames: readonly SseEvent[]): boolean;
  /** Sends a frame that every client skips if nothing was sent since the last call, to keep an idle connection open (T88). */
  keepAlive(): void;
  /** Sends the last frames and ends the stream. */
  end(frames: readonly SseEvent[]): void;
  onDrain(handler: () => void): void;
  /** Calls the handler once if the client disconnects before the answer is complete; immediately if it already has. */
  onGone(handler: () => void): void;
  readonly gone: boolean;
}

/** The header that lists changed request parameters, if any; for streams and answers without a `gw`. */
export const droppedHeader = (notes: readonly Note[]): Readonly<Record<string, string>> =>
  droppedNames(noteHeader(notes));

/** The same header, from the joined names. */
export const droppedNames = (names: string | undefined): Readonly<Record<string, string>> =>
  names === undefined ? {} : { "x-gw-dropped-params": names };
