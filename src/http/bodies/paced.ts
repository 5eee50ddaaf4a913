/**
 * Reads large bodies slowly enough to keep each turn of the event loop short. The system hands over two megabytes of each connection at
 * once, and all other calls would wait for that.
 */
import type { BodyStream } from "../exchange.ts";

const bytesPerTurn = 512 * 1024;
/** Bodies resumed per turn: one read is 64 kB at most. */
const resumedPerTurn = 8;

const waiting: BodyStream[] = [];
let turnBytes = 0;
let isCounting = false;

/** Call this at each read of a large body. It may pause the body for a turn or more, and resumes it by itself. */
export function pace(request: BodyStream, bytes: number): void {
  turnBytes += bytes;
  if (turnBytes > bytesPerTurn && !request.readableEnded) {
    request.pause();
    waiting.push(request);
  }
  if (isCounting) return;
  isCounting = true;
  setImmediate(nextTurn);
}

function nextTurn(): void {
  turnBytes = 0;
  isCounting = false;
  for (const request of waiting.splice(0, resumedPerTurn)) request.resume();
  if (waiting.length === 0) return;
  isCounting = true;
  setImmediate(nextTurn);
}

/** Requests whose client waits for `100 Continue` before it sends its body, and may never get it. */
export const awaitingContinue = new WeakSet<object>();

/**
 * Reads the rest of a refused body and discards it: a client that is still sending would not read the answer. Without this, Node reads
 * the rest as fast as it arrives.
 */
export function discardBody(request: BodyStream): void {
  if (request.readableEnded || request.destroyed || request.listenerCount("data") > 0) return;
  if (awaitingContinue.has(request)) return;
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => pace(request, chunk.length));
}
