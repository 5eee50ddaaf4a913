/** The body of a request on the fast path that comes in several reads: what is used of Node's IncomingMessage, and nothing more. */
import type { Socket } from "node:net";
import type { BodyStream } from "../../exchange.ts";

export const emptyBytes = Buffer.alloc(0);

/** It is not read before somebody listens: a stranger's body stays in the system's buffers. */
export class FastBody implements BodyStream {
  readonly #socket: Pick<Socket, "pause" | "resume">;
  /** Bytes that are still to come. */
  #missing: number;
  /** What came with the head, until somebody listens. */
  #first: Buffer;
  #onData: ((chunk: Buffer) => void) | undefined;
  #onEnd: (() => void) | undefined;
  #onError: (() => void) | undefined;
  /** True once all of it has been read. */
  readableEnded = false;
  /** True once the connection broke. */
  destroyed = false;

  /** `length` is what the request announces; `first`, which is shorter, came with its head. */
  constructor(socket: Pick<Socket, "pause" | "resume">, length: number, first: Buffer) {
    this.#socket = socket;
    this.#missing = length - first.length;
    this.#first = first;
  }

  /** The next bytes that were read; how many of them are the body's. */
  take(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#missing);
    this.#missing -= taken;
    // Before the last bytes are given out: nobody pauses for them any more.
    this.readableEnded = this.#missing === 0;
    this.#onData?.(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (this.readableEnded) this.#onEnd?.();
    return taken;
  }

  /** The connection closed before the end. */
  broken(): void {
    this.destroyed = true;
    this.#onError?.();
  }

  on(event: "data" | "end" | "error", listener: (chunk: Buffer) => void): void {
    if (event === "end") this.#onEnd = listener as () => void;
    else if (event === "error") this.#onError = listener as () => void;
    else this.#listen(listener);
  }

  #listen(listener: (chunk: Buffer) => void): void {
    const first = this.#first;
    this.#first = emptyBytes;
    this.#onData = listener;
    this.resume();
    if (first.length > 0) listener(first);
  }

  listenerCount(_event: "data"): number {
    return this.#onData === undefined ? 0 : 1;
  }

  pause(): void {
    if (!this.readableEnded) this.#socket.pause();
  }

  resume(): void {
    if (!this.readableEnded && !this.destroyed) this.#socket.resume();
  }
}
