/**
 * Large bodies on their way are read so slowly that each turn of the event loop stays short: the system hands over two
 * megabytes of each connection at once, and everybody else waits for all of them.
 */
import type { BodyStream } from "../exchange.ts";

const bytesPerTurn = 512 * 1024;
/** One read is 64 kB at most. */
const resumedPerTurn = 8;

const waiting: BodyStream[] = [];
let turnBytes = 0;
let isCounting = false;

/** Called at each read of a large body. It may be paused for a turn or more, and goes on by itself. */
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

/** Requests whose client has not been told to send its body, and may never be. */
export const heldBack = new WeakSet<object>();

/**
 * Reads what is left of a body that was refused, and forgets it: a client that is still sending would not read the answer.
 * Without this Node reads it as fast as it comes.
 */
export function forgetBody(request: BodyStream): void {
  if (request.readableEnded || request.destroyed || request.listenerCount("data") > 0) return;
  if (heldBack.has(request)) return;
  request.on("error", () => undefined);
  request.on("data", (chunk: Buffer) => pace(request, chunk.length));
}
