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
  /** One tick of `keptOpen`. If nothing was sent for as many as it counts, sends a frame that every client skips. */
  keepAlive(): void;
  /** Sends the last frames and ends the stream. */
  end(frames: readonly SseEvent[]): void;
  onDrain(handler: () => void): void;
  /** Calls the handler once if the client disconnects before the answer is complete; immediately if it already has. */
  onGone(handler: () => void): void;
  readonly gone: boolean;
}

/** The ticks of a silence before a keep-alive. With few, the silence would last for up to two intervals if an event began it. */
export const keepAliveTicks = 3;

/**
 * Sends keep-alives while a stream is silent, until the work has ended. A model may think for long before its answer and within it.
 * Proxies would cut the connection (T88), and Claude Code reports a stall after 20 s without a byte.
 */
export async function keptOpen<Result>(
  {
    reply,
    services,
  }: { readonly reply: Reply; readonly services: { readonly keepAliveMs: number } },
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = setInterval(() => {
    if (!reply.gone && !reply.ended) reply.keepAlive();
  }, services.keepAliveMs / keepAliveTicks);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The header that lists changed request parameters, if any; for streams and answers without a `gw`. */
export const droppedHeader = (notes: readonly Note[]): Readonly<Record<string, string>> =>
  droppedNames(noteHeader(notes));

/** The same header, from the joined names. */
export const droppedNames = (names: string | undefined): Readonly<Record<string, string>> =>
  names === undefined ? {} : { "x-gw-dropped-params": names };
