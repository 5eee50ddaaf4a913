/**
 * Extracts the body of an answer from the reads of a connection, wherever they are cut. Pure: bytes in, content out. Content before a fault
 * is delivered together with the fault. RFC 9112 section 6.
 */
import { ChunkedReader } from "./chunked.ts";
import type { Framing } from "./framing.ts";

/** Reads bodies one after the other. */
export class BodyReader {
  /** The content of the last `take` in the buffer: `[from, to)`. */
  from = 0;
  to = 0;
  /** The index in the buffer where the body ended; -1 before it has. */
  end = -1;
  /** The reason why the bytes after the content cannot be read; undefined if all is well. */
  fault: string | undefined;
  #kind: Framing["kind"] = "none";
  /** Bytes of a body of kind `length` that are missing. */
  #missing = 0;
  readonly #chunked = new ChunkedReader();

  /** Begins a body that is not of kind `none`. */
  begin({ kind, length }: Framing): void {
    this.end = -1;
    this.fault = undefined;
    this.#kind = kind;
    this.#missing = length;
    if (kind === "chunked") this.#chunked.begin();
  }

  /** True if the end of the connection ends the body. */
  get endsWithConnection(): boolean {
    return this.#kind === "close";
  }

  /** Reads the bytes `[from, to)`, and may move them. Not to be called after an end or a fault. */
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
