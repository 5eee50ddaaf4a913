/** The load: keep-alive connections over bare sockets, each sending its next request when its answer is whole. */
import { connect, type Socket } from "node:net";

export interface LoadTarget {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** One whole HTTP request. */
  readonly request: Buffer;
  /** Whether the answer is a stream: complete at its last chunk, else by its Content-Length. */
  readonly streamed: boolean;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
  /** Of all answers, sorted, in milliseconds. */
  readonly latenciesMs: Float64Array;
  /** Answers that were not 200. */
  readonly failures: number;
}

/** The bytes of a POST with a JSON body. */
export function requestBytes(path: string, key: string, body: object): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** Drives a target for `seconds` over `connections`. Answers under way at the end are not counted. */
export async function drive(
  target: LoadTarget,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const started = performance.now();
  const until = started + seconds * 1000;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(target.url);
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      let sent = 0;
      const send = (): void => {
        sent = performance.now();
        socket.write(target.request);
      };
      const reader = createAnswerReader(target.streamed, (ok) => {
        const now = performance.now();
        if (now > until) {
          socket.destroy();
          resolve();
          return;
        }
        if (!ok) failures += 1;
        latencies.push(now - sent);
        send();
      });
      socket.on("data", reader);
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("close", () => resolve());
      stopAt(socket, until);
    });
  await Promise.all(Array.from({ length: connections }, one));
  const elapsed = Math.min(performance.now(), until) - started;
  return {
    answers: latencies.length,
    seconds: elapsed / 1000,
    latenciesMs: Float64Array.from(latencies).sort(),
    failures,
  };
}

/** A target that hangs must not hang the benchmark. */
function stopAt(socket: Socket, until: number): void {
  const graceMs = 2_000;
  const timer = setTimeout(() => socket.destroy(), until - performance.now() + graceMs);
  socket.on("close", () => clearTimeout(timer));
}

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

/** Calls `onAnswer` at the end of each answer, with whether its status was 200. */
function createAnswerReader(
  streamed: boolean,
  onAnswer: (ok: boolean) => void,
): (data: Buffer) => void {
  let rest: Buffer | undefined;
  let ok = false;
  let missing = -1;
  // The last bytes read: a last chunk may arrive in two reads.
  let tail: Buffer = Buffer.alloc(0);
  return (data) => {
    let bytes: Buffer = rest ? Buffer.concat([rest, data]) : data;
    rest = undefined;
    if (missing === -1) {
      const end = bytes.indexOf(headEnd);
      if (end === -1) {
        rest = bytes;
        return;
      }
      const head = bytes.toString("latin1", 0, end);
      ok = head.startsWith("HTTP/1.1 200");
      const length = /content-length: *(\d+)/i.exec(head)?.[1];
      missing = length === undefined ? Infinity : Number(length);
      bytes = bytes.subarray(end + headEnd.length);
    }
    if (missing !== Infinity) missing -= bytes.length;
    // An answer always ends a write here, so the last chunk stands at the end of what was read.
    tail = bytes.length >= lastChunk.length ? bytes : Buffer.concat([tail, bytes]);
    tail = tail.subarray(-lastChunk.length);
    if (missing === Infinity ? !tail.equals(lastChunk) : missing > 0) return;
    const answeredAsAsked = (missing === Infinity) === streamed;
    missing = -1;
    tail = Buffer.alloc(0);
    onAnswer(ok && answeredAsAsked);
  };
}
