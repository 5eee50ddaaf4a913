/** A stream of events as an answer: its head, its frames, and its end when its reader has left. */
import type { FastifyReply } from "fastify";
import type { Sink, StreamEvent } from "../../admin/index.ts";
import { formatSse, sseKeepAlive } from "../../base/sse.ts";

/** A reader that has so much still to take takes nothing. */
const unreadBytesMax = 1_000_000;

const head = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Or nginx would collect what is to be seen at once.
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
} as const;

/** When to come back after a stop: not all readers at once. */
const retryMs = (): number => 1_000 + Math.floor(Math.random() * 4_000);

const idOf = (mark: bigint | undefined): string => (mark === undefined ? "" : `id: ${mark}\n\n`);

function frame({ event, data }: StreamEvent): string {
  const retry = event === "bye" ? `retry: ${retryMs()}\n` : "";
  return retry + formatSse({ event, data: JSON.stringify(data) });
}

/**
 * Answers with a stream. `begin` takes where the events go and returns how to leave; what it throws is answered as ever, because
 * nothing has been sent then.
 */
export function answerEvents(reply: FastifyReply, begin: (sink: Sink) => () => void): FastifyReply {
  const { raw, request } = reply;
  if (request.method === "HEAD") return reply.type(head["content-type"]).send();
  // One who left while it was asked who they are has fired their event already: nobody would ever take them out again.
  if (raw.destroyed) return reply.hijack();
  const open = (): void => {
    if (!raw.headersSent) raw.writeHead(200, { ...head, "x-request-id": request.id });
  };
  const write = (text: string): void => {
    open();
    raw.write(text);
  };
  const leave = begin({
    // The mark stands behind its events: a reader who did not get it gets them again.
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
