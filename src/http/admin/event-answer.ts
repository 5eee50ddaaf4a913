/** Answers with a stream of events: writes its head and frames, and ends it when its reader has left. */
import type { FastifyReply } from "fastify";
import type { Sink, StreamEvent } from "../../admin/index.ts";
import { formatSse, sseKeepAlive } from "../../base/sse.ts";

/** Unread bytes above which a reader counts as stuck. */
const unreadBytesMax = 1_000_000;

const head = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Otherwise nginx would buffer the events.
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
} as const;

/** The reconnect delay after a stop, in ms; random, so that readers do not return all at once. */
const retryMs = (): number => 1_000 + Math.floor(Math.random() * 4_000);

const idOf = (mark: bigint | undefined): string => (mark === undefined ? "" : `id: ${mark}\n\n`);

function frame({ event, data }: StreamEvent): string {
  const retry = event === "bye" ? `retry: ${retryMs()}\n` : "";
  return retry + formatSse({ event, data: JSON.stringify(data) });
}

/**
 * Answers with a stream. `begin` gets the sink for the events and returns the function to leave. Its errors get normal error answers,
 * because nothing has been sent then.
 */
export function answerEvents(reply: FastifyReply, begin: (sink: Sink) => () => void): FastifyReply {
  const { raw, request } = reply;
  if (request.method === "HEAD") return reply.type(head["content-type"]).send();
  // If the reader left during authentication, `close` has fired already and would never remove it from the hub.
  if (raw.destroyed) return reply.hijack();
  const open = (): void => {
    if (!raw.headersSent) raw.writeHead(200, { ...head, "x-request-id": request.id });
  };
  const write = (text: string): void => {
    open();
    raw.write(text);
  };
  const leave = begin({
    // The mark follows its events: a reader that did not get the mark gets the events again.
    send: (events, mark) => write(events.map(frame).join("") + idOf(mark)),
    keepAlive: (mark) => write(sseKeepAlive + idOf(mark)),
    isStuck: () => raw.writableLength > unreadBytesMax,
    end: () => raw.end(),
  });
  reply.hijack();
  raw.on("close", leave);
  open();
  raw.flushHeaders();
  return reply;
}
