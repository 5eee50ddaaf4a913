/**
 * Reads the body of an answer out of the reads of a connection, whatever their cuts. Pure: bytes in, content out.
 * What was good before a fault is given out, and the fault stands beside it. RFC 9112 section 6.
 */
import { ChunkedReader } from "./chunked.ts";
import type { Framing } from "./framing.ts";

/** Reads one body after the other. */
export class BodyReader {
  /** Where in the buffer the content of the last `take` stands: `[from, to)`. */
  from = 0;
  to = 0;
  /** Where in the buffer the body ended, once it has; -1 before. */
  end = -1;
  /** Why what follows the content cannot be read; undefined when all is well. */
  fault: string | undefined;
  #kind: Framing["kind"] = "none";
  /** Bytes of a body of kind `length` that are still to come. */
  #missing = 0;
  readonly #chunked = new ChunkedReader();

  /** Begins a body that has bytes at all. */
  begin({ kind, length }: Framing): void {
    this.end = -1;
    this.fault = undefined;
    this.#kind = kind;
    this.#missing = length;
    if (kind === "chunked") this.#chunked.begin();
  }

  /** Whether a body is whole when its connection ends here. */
  get endsWithConnection(): boolean {
    return this.#kind === "close";
  }

  /** Reads the bytes `[from, to)`, which it may move about. Not to be called after an end or a fault. */
  take(buffer: Buffer, from: number, to: number): void {
    if (this.#kind === "chunked") return this.#takeChunks(buffer, from, to);
    this.from = from;
    this.to = to;
    if (this.#kind === "close") return;
    if (to - from >= this.#missing) {
      this.to = from + this.#missing;
      this.end = this.to;
    }
    this.#missing -= this.to - from;
  }

  #takeChunks(buffer: Buffer, from: number, to: number): void {
    const chunked = this.#chunked;
    chunked.take(buffer, from, to);
    this.from = chunked.from;
    this.to = chunked.to;
    this.end = chunked.end;
    this.fault = chunked.fault;
  }
}
