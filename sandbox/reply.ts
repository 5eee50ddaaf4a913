/** Sends an answer, with whatever the script wants to go wrong on the way. One frame is one write. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { formatSse } from "../src/base/sse.ts";
import { packetOf } from "./bedrock/packets.ts";
import type { Script } from "./script-fields.ts";
import type { Failure } from "./refusal.ts";
import type { Frame, Packets, Rendering } from "./vendor.ts";

export interface Delivery {
  readonly response: ServerResponse;
  readonly script: Script;
  /** Fires when the client is gone. */
  readonly left: AbortSignal;
  /** A JSON array instead of events: what generateContent streams without `alt=sse`. */
  readonly array: boolean;
  /** Binary frames instead of events. */
  readonly packets: Packets | undefined;
}

const cutResponses = new WeakSet<ServerResponse>();

/** Destroys the connection, as a vendor that dies. */
export function cut(response: ServerResponse): void {
  cutResponses.add(response);
  response.destroy();
}

/** Whether it was the script, not the client, that broke this connection. */
export function wasCut(response: ServerResponse): boolean {
  return cutResponses.has(response);
}

/** The failure a script words with `error`. */
export function scriptedFailure(script: Script, usual: string): Failure {
  const { error, retry_after: retryAfterSeconds } = script;
  if (typeof error === "object") {
    return { ...error, message: error.message ?? usual, retryAfterSeconds };
  }
  return { message: error ?? usual, retryAfterSeconds };
}

/** Sends a JSON body with its length; a script may cut it in its middle. */
export function sendWhole({ response, script }: Delivery, body: string): void {
  const bytes = Buffer.from(script.malformed === undefined ? body : body.slice(0, -2));
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", bytes.length);
  if (script.cut_after_chunks === undefined) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => cut(response));
}

/** Sends the frames as a stream, up to the place where the script breaks it. */
export async function sendStream(delivery: Delivery, rendering: Rendering): Promise<void> {
  const { response, script } = delivery;
  response.setHeader("content-type", streamType(delivery));
  response.setHeader("cache-control", "no-cache");
  const writer = createWriter(delivery);
  let contentSent = 0;
  let framesSent = 0;
  for (const frame of rendering.frames()) {
    if (frame.kind !== "open") {
      const fault = faultAt(script, contentSent);
      if (fault) return await breakOff(delivery, { fault, framesSent, writer, rendering });
    }
    if (frame.kind === "end" && script.no_end_marker) break;
    if (frame.kind === "content") {
      if (script.chunk_delay_ms !== undefined && contentSent > 0) await writer.pause();
      contentSent += 1;
    }
    await writer.write(brokenWhereAsked(frame, script, contentSent));
    framesSent += 1;
  }
  await writer.end();
}

function streamType({ array, packets }: Delivery): string {
  if (packets) return "application/vnd.amazon.eventstream";
  return array ? "application/json" : "text/event-stream; charset=utf-8";
}

type Fault = "cut" | "end" | "hang" | "error";

/** What the script wants to happen once so many pieces of content are out. */
function faultAt(script: Script, contentSent: number): Fault | undefined {
  if (script.cut_after_chunks !== undefined && contentSent >= script.cut_after_chunks) return "cut";
  if (script.end_after_chunks !== undefined && contentSent >= script.end_after_chunks) return "end";
  if (script.hang_after_chunks !== undefined && contentSent >= script.hang_after_chunks) {
    return "hang";
  }
  const failing = script.stream_error !== undefined && contentSent >= script.stream_error;
  return failing ? "error" : undefined;
}

interface Break {
  readonly fault: Fault;
  readonly framesSent: number;
  readonly writer: Writer;
  readonly rendering: Rendering;
}

async function breakOff(
  delivery: Delivery,
  { fault, framesSent, writer, rendering }: Break,
): Promise<void> {
  const { response, script, left } = delivery;
  switch (fault) {
    case "cut":
      await writer.flush();
      cut(response);
      return;
    case "hang":
      await writer.flush();
      await untilGone(left);
      return;
    case "error": {
      const failure = scriptedFailure(script, "The sandbox was told to fail here.");
      for (const frame of rendering.errorFrames(failure, framesSent)) await writer.write(frame);
      await writer.end();
      return;
    }
    case "end":
      await writer.end();
  }
}

/** Resolves when the client has left. */
export function untilGone(left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (left.aborted) resolve();
    else left.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** In a stream, `malformed` breaks the second piece of content. */
function brokenWhereAsked(frame: Frame, script: Script, contentSent: number): Frame {
  const broken = script.malformed !== undefined && frame.kind === "content" && contentSent === 2;
  return broken ? { ...frame, data: frame.data.slice(0, -2) } : frame;
}

interface Writer {
  write(frame: Frame): Promise<void>;
  /** Resolves when what was written is handed to the kernel. */
  flush(): Promise<void>;
  pause(): Promise<void>;
  end(): Promise<void>;
}

function createWriter({ response, script, left, array, packets }: Delivery): Writer {
  const cutBytes = script.sse_cut_bytes;
  let waiting = Buffer.alloc(0);
  let first = true;

  async function send(bytes: string | Buffer): Promise<void> {
    if (left.aborted || response.write(bytes)) return;
    await once(response, "drain", { signal: left });
  }

  /** Packets of exactly `cutBytes`, each in its own turn of the event loop; the rest waits for the next frame. */
  async function sendCut(text: string | Buffer, bytes: number): Promise<void> {
    waiting = Buffer.concat([waiting, Buffer.from(text as string)]);
    while (waiting.length >= bytes && !left.aborted) {
      await send(waiting.subarray(0, bytes));
      waiting = waiting.subarray(bytes);
      await nextTurn();
    }
  }

  const sendText = (text: string | Buffer): Promise<void> =>
    cutBytes === undefined ? send(text) : sendCut(text, Math.max(1, cutBytes));

  function framed(frame: Frame): string | Buffer {
    if (packets) return packetOf(frame, packets);
    if (!array) return formatSse(frame);
    const opening = first ? "[" : ",\r\n";
    first = false;
    return opening + frame.data;
  }

  return {
    write: (frame) => sendText(framed(frame)),
    async flush() {
      if (waiting.length > 0) await send(waiting);
      await new Promise((resolve) => response.write("", resolve));
      await nextTurn();
    },
    async pause() {
      const wait = script.chunk_delay_ms ?? 0;
      if (wait === 0) await nextTurn();
      else await sleep(wait, undefined, { signal: left });
    },
    async end() {
      if (array) await sendText(first ? "[]" : "]");
      response.end(waiting);
    },
  };
}
