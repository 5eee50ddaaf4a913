/**
 * Content codings of answers (RFC 9110 section 8.4.1): a vendor, or the CDN in front of it, may compress. Both clients decode
 * here, as the bytes arrive, so that each frame of a stream is there as soon as its bytes are; the decoded size is bounded.
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

/** The longest answer that is read, and the most that a compressed one may come to, whole or streamed. */
export const answerBytesMax = 256 * 1024 * 1024;

/** What is asked for where answers are large and compress well: pictures in base64, embeddings. */
export const acceptEncoding = "gzip, br, zstd";

const chunkSize = 64 * 1024;

/** A window of 8 MB, the largest for zstd as a content encoding (RFC 9659): a server that lies is given no more. */
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
 * The coding of an answer's body by its head; undefined where it has none.
 * @throws ExchangeError `unreadable` for a coding, or a chain of them, that cannot be undone here
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

/** Where decoded bytes go. Exactly one of `end` and `fail` is called, once. */
interface DecodedSink {
  data(chunk: Buffer): void;
  end(): void;
  fail(error: ExchangeError): void;
}

/** The flow of the coded bytes. */
interface CodedSource {
  pause(): void;
  resume(): void;
}

interface DecoderParts {
  /** As {@link codingOf} gives it. */
  readonly coding: string;
  readonly bytesMax: number;
  readonly sink: DecodedSink;
  readonly source: CodedSource;
}

/** Decodes one body. */
export class BodyDecoder {
  readonly #parts: DecoderParts;
  /** Absent until the first bytes: a body without any is not coded at all. */
  #stream: Transform | undefined;
  #isPaused = false;
  #bytes = 0;
  /** Writes that are not decoded yet. */
  #pending = 0;
  /** What broke the body, reported once the bytes before it are read. */
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

  /** The body is whole. */
  end(): void {
    if (this.#isOver) return;
    if (this.#stream === undefined) this.#end();
    else this.#stream.end();
  }

  /** The body broke off. What had arrived before is still decoded, unless its reader holds it back. */
  fail(error: ExchangeError): void {
    if (this.#pending === 0 || this.#isPaused) this.#fail(error);
    else this.#broken = error;
  }

  /** Holds the decoded bytes back, and soon the coded ones. */
  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  /** Stops at once; the sink hears nothing more. */
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

  /** Nothing may throw out of here: it would end the process. */
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
