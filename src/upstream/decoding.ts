/**
 * Content codings of answers (RFC 9110 section 8.4.1): a vendor, or its CDN, may compress. Both clients decode here as the bytes arrive, so
 * that each frame of a stream is ready with its last byte. The decoded size is bounded.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";
import { ExchangeError } from "./exchange-error.ts";

/** The longest answer that is read; also bounds the decoded size of a compressed one, whole or streamed. Bytes. */
export const answerBytesMax = 256 * 1024 * 1024;

/** The `accept-encoding` for answers that are large and compress well: pictures in base64, embeddings. */
export const acceptEncoding = "gzip, br, zstd";

const chunkSize = 64 * 1024;

/** A window of 8 MB, the largest for zstd as a content encoding (RFC 9659): a malicious server gets no more memory. */
const zstdOptions = { chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Flushed at each write: an event must not wait for the bytes of the next one. */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize, flush: constants.Z_SYNC_FLUSH }),
  "x-gzip": () => createGunzip({ chunkSize, flush: constants.Z_SYNC_FLUSH }),
  deflate: () => createInflate({ chunkSize, flush: constants.Z_SYNC_FLUSH }),
  br: () => createBrotliDecompress({ chunkSize, flush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => createZstdDecompress(zstdOptions),
};

const codingMax = 40;

/**
 * Returns the coding of an answer's body by its headers; undefined if it has none.
 * @throws ExchangeError `unreadable` for a coding, or a chain of them, that the gateway cannot decode
 */
export function codingOf(headers: IncomingHttpHeaders): string | undefined {
  const named = headers["content-encoding"];
  if (named === undefined) return undefined;
  const codings = named
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity");
  const [coding] = codings;
  if (coding === undefined) return undefined;
  if (codings.length === 1 && Object.hasOwn(decoders, coding)) return coding;
  throw new ExchangeError(
    "unreadable",
    `the answer has the Content-Encoding ${JSON.stringify(named.slice(0, codingMax))}, which cannot be decoded`,
  );
}

/** The receiver of the decoded bytes. Exactly one of `end` and `fail` is called, once. */
interface DecodedSink {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** Flow control of the coded bytes. */
interface CodedSource {
  pause(): void;
  resume(): void;
}

interface DecoderParts {
  /** As returned by {@link codingOf}. */
  readonly coding: string;
  readonly bytesMax: number;
  readonly sink: DecodedSink;
  readonly source: CodedSource;
}

/** Decodes one body. */
export class BodyDecoder {
  readonly #parts: DecoderParts;
  /** Absent until the first bytes: an empty body is not coded at all. */
  #stream: Transform | undefined;
  #isPaused = false;
  #bytes = 0;
  /** Number of writes that are not decoded yet. */
  #pending = 0;
  /** The error that broke the body, reported after the bytes before it. */
  #broken: ExchangeError | undefined;
  #isOver = false;

  constructor(parts: DecoderParts) {
    this.#parts = parts;
  }

  /** Takes the next coded bytes, which must not change afterwards. */
  write(bytes: Buffer): void {
    if (this.#isOver || bytes.length === 0) return;
    this.#stream ??= this.#open();
    this.#pending += 1;
    const hasRoom = this.#stream.write(bytes, () => {
      this.#pending -= 1;
      if (this.#pending === 0 && this.#broken !== undefined) this.#fail(this.#broken);
    });
    if (!hasRoom) this.#parts.source.pause();
  }

  /** Ends a complete body. */
  end(): void {
    if (this.#isOver) return;
    if (this.#stream === undefined) this.#end();
    else this.#stream.end();
  }

  /** Ends a body that broke off. Bytes that arrived before are still decoded, unless the reader has paused. */
  fail(error: ExchangeError): void {
    if (this.#pending === 0 || this.#isPaused) this.#fail(error);
    else this.#broken = error;
  }

  /** Holds back the decoded bytes, and soon the coded ones. */
  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  /** Stops at once; the sink is not called any more. */
  destroy(): void {
    this.#isOver = true;
    this.#stream?.destroy();
  }

  #open(): Transform {
    const { coding, source } = this.#parts;
    const stream = decoders[coding]!();
    stream.on("data", (chunk: Buffer) => this.#take(chunk));
    stream.on("drain", () => source.resume());
    stream.on("end", () => this.#end());
    stream.on("error", (error) => {
      const reason = "code" in error ? String(error.code) : error.name;
      this.#fail(
        new ExchangeError("unreadable", `the answer is no valid ${coding} (${reason})`, error),
      );
    });
    if (this.#isPaused) stream.pause();
    return stream;
  }

  /** Must not throw: an error would end the process. */
  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    const { bytesMax, sink } = this.#parts;
    this.#bytes += chunk.length;
    if (this.#bytes > bytesMax) {
      const message = `the answer is longer than ${bytesMax} bytes once it is decoded`;
      return this.#fail(new ExchangeError("too_large", message));
    }
    try {
      sink.data(chunk);
    } catch (error) {
      this.#fail(new ExchangeError("broken", "the answer could not be taken", error));
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.destroy();
    this.#parts.sink.end();
  }

  #fail(error: ExchangeError): void {
    if (this.#isOver) return;
    this.destroy();
    this.#parts.sink.fail(error);
  }
}
