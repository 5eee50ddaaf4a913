/**
 * What the text endpoints need of a request and of the place its answer goes to. Node's IncomingMessage and ServerResponse
 * have it, and so have the requests and answers of the fast path (front/fast/).
 */
import type { IncomingHttpHeaders } from "node:http";

/** Headers of one request; above it the answer is 431, whoever reads it. */
export const headersMax = 500;

/** The headers that are read of a text call: on the fast path there are no others (front/fast/request.ts). */
type ReadHeaders = Partial<
  Pick<
    IncomingHttpHeaders,
    | "authorization"
    | "api-key"
    | "x-api-key"
    | "x-goog-api-key"
    | "content-type"
    | "content-length"
    | "content-encoding"
    | "transfer-encoding"
    | "anthropic-version"
    | "anthropic-beta"
  >
>;

/** A request without its body. The names of headers are in lower case. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** Path and query, as sent. */
  readonly url?: string | undefined;
  readonly headers: Readonly<ReadHeaders>;
}

/** A body that is on its way. */
export interface BodyStream {
  /** `error`: the connection broke before the body's end. Reading begins with the listener for `data`. */
  on(event: "data" | "end" | "error", listener: (chunk: Buffer) => void): unknown;
  listenerCount(event: "data"): number;
  pause(): unknown;
  resume(): unknown;
  /** True once all of it has been read. */
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
}

/** A body, where it came with its head, else what it is read from. */
export type RequestBody = Buffer | BodyStream;

/** Where an answer goes: a head, then text, then its end. */
export interface ResponseSink {
  /** True once `writeHead` was called. */
  readonly headersSent: boolean;
  /** True once the connection is closed. */
  readonly destroyed: boolean;
  /** A header that the answer will have beside those of `writeHead`. @throws TypeError for characters that a header must not have */
  setHeader(name: string, value: string): unknown;
  /** Sent with the first text, in one write. Without a content-length the answer is sent in chunks. @throws TypeError as `setHeader` */
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  /** False when the client reads slower than we write: wait for `drain`. */
  write(text: string): boolean;
  end(text: string): unknown;
  /** `close`: the answer is over, or the client left before; `drain`: what was written has left. */
  on(event: "close" | "drain", listener: () => void): unknown;
}
