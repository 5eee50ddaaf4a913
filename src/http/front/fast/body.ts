/** A request body on the fast path that comes in several reads. It has only the parts of Node's IncomingMessage that the gateway uses. */
import type { Socket } from "node:net";
import type { BodyStream } from "../../exchange.ts";

export const emptyBytes = Buffer.alloc(0);

/** Not read before a `data` listener is added: until then, a stranger's body stays in the kernel's buffers. */
export class FastBody implements BodyStream {
  readonly socket: Socket;
  /** Bytes that have not arrived yet. */
  #missing: number;
  /** The bytes that came with the head, until a listener takes them. */
  #first: Buffer;
  #onData: ((chunk: Buffer) => void) | undefined;
  #onEnd: (() => void) | undefined;
  #onError: (() => void) | undefined;
  /** True once the whole body has been read. */
  readableEnded = false;
  /** True once the connection broke. */
  destroyed = false;

  /** `length` is the announced length; `first`, which is shorter, came with the head. */
  constructor(socket: Socket, length: number, first: Buffer) {
    this.socket = socket;
    this.#missing = length - first.length;
    this.#first = first;
  }

  /** Passes on the next bytes that were read. Returns how many of them belong to this body. */
  push(bytes: Buffer): number {
    const taken = Math.min(bytes.length, this.#missing);
    this.#missing -= taken;
    // Set before the last bytes are passed on: after them, no reader may pause the socket.
    this.readableEnded = this.#missing === 0;
    this.#onData?.(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (this.readableEnded) this.#onEnd?.();
    return taken;
  }

  /** The connection closed before the end. */
  connectionClosed(): void {
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
    if (!this.readableEnded) this.socket.pause();
  }

  resume(): void {
    if (!this.readableEnded && !this.destroyed) this.socket.resume();
  }
}
