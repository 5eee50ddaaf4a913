/** Many streams held open at once: measures the lateness of frames, and checks that all streams end completely. */
import { connect } from "node:net";
import { AnswerReader } from "./answer-reader.ts";
import { sleep, type LoadTarget } from "./drive.ts";

interface HeldOptions {
  readonly connections: number;
  /** How many seconds frames are counted once every stream is open. */
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Called when all streams are open, and when counting ends. */
  readonly onBegin: () => void;
  readonly onEnd: () => void;
  /** Tells the upstream to end the streams. */
  readonly finish: () => void;
}

export interface HeldResult {
  /** Lateness of all counted frames, sorted: milliseconds from the upstream's write to the read here. */
  readonly lateMs: Float64Array;
  readonly seconds: number;
  /** Streams that did not open or did not end correctly. */
  readonly failures: number;
}

const openMs = 60_000;
const endMs = 30_000;
/** How many streams are opened per step: real callers do not all come at once either. */
const openedAtOnce = 50;
const frameTime = / t=(\d+(?:\.\d+)?);/g;

/** Opens the streams, counts frames, and ends the streams. Rejects when the signal fires. */
export async function hold(target: LoadTarget, options: HeldOptions): Promise<HeldResult> {
  const streams: Stream[] = [];
  const late: number[] = [];
  let counting = false;
  const onRead = (bytes: Buffer): void => {
    if (!counting) return;
    const nowMs = Number(process.hrtime.bigint()) / 1e6;
    for (const [, sentMs] of bytes.toString("latin1").matchAll(frameTime))
      late.push(nowMs - Number(sentMs));
  };
  const until = async (deadlineMs: number, isTrue: () => boolean): Promise<void> => {
    const endsMs = performance.now() + deadlineMs;
    while (!isTrue() && performance.now() < endsMs) await sleep(20, options.signal);
    options.signal.throwIfAborted();
  };
  try {
    while (streams.length < options.connections) {
      for (let count = 0; count < openedAtOnce && streams.length < options.connections; count += 1)
        streams.push(openStream(target, streams.length, onRead));
      await sleep(10, options.signal);
    }
    await until(openMs, () => streams.every(({ state }) => state !== "opening"));
    counting = true;
    options.onBegin();
    const began = performance.now();
    await sleep(options.seconds * 1000, options.signal);
    counting = false;
    const seconds = (performance.now() - began) / 1000;
    options.onEnd();
    options.finish();
    await until(endMs, () => streams.every(({ state }) => state !== "open"));
    const failures = streams.filter(({ state }) => state !== "whole").length;
    return { lateMs: Float64Array.from(late).sort(), seconds, failures };
  } finally {
    for (const stream of streams) stream.close();
  }
}

interface Stream {
  readonly state: "opening" | "open" | "whole" | "broken";
  close(): void;
}

function openStream(target: LoadTarget, index: number, onRead: (bytes: Buffer) => void): Stream {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let state: Stream["state"] = "opening";
  const reader = new AnswerReader(true, {
    first: () => (state = "open"),
    complete: (ok) => (state = ok ? "whole" : "broken"),
  });
  socket.on("connect", () => {
    for (const part of target.requests[index % target.requests.length]!) socket.write(part);
  });
  socket.on("data", (bytes: Buffer) => {
    reader.read(bytes);
    onRead(bytes);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    if (state !== "whole") state = "broken";
  });
  return {
    get state() {
      return state;
    },
    close: () => void socket.destroy(),
  };
}
