/**
 * The parts of a request and of a response that the text endpoints use. Node's IncomingMessage and ServerResponse have them, and so do
 * the requests and responses of the fast path (front/fast/).
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "../base/tracing.ts";
import type { RouteMatch } from "./routes.ts";

/** Most headers of one request, and most bytes of its head. Above these, both front ends answer 431. */
export const headersMax = 500;
export const headBytesMax = 16_384;

/**
 * The headers of a text call that the gateway reads; the fast path keeps no others, and each at most once. All are set from the start,
 * because objects of one shape are read fastest.
 */
export class CallHeaders {
  host: string | undefined = undefined;
  connection: string | undefined = undefined;
  authorization: string | undefined = undefined;
  "api-key": string | undefined = undefined;
  "x-api-key": string | undefined = undefined;
  "x-goog-api-key": string | undefined = undefined;
  "content-type": string | undefined = undefined;
  "content-length": string | undefined = undefined;
  "content-encoding": string | undefined = undefined;
  "anthropic-version": string | undefined = undefined;
  "anthropic-beta": string | undefined = undefined;
  "anthropic-user-profile-id": string | undefined = undefined;
  "anthropic-workspace-id": string | undefined = undefined;
  "x-gw-fallback-models": string | undefined = undefined;
  "x-session-affinity": string | undefined = undefined;
  "x-session-id": string | undefined = undefined;
  "x-gw-metadata": string | undefined = undefined;
  "x-gw-end-user": string | undefined = undefined;
  origin: string | undefined = undefined;
  "x-forwarded-for": string | undefined = undefined;
  "user-agent": string | undefined = undefined;
  "x-stainless-lang": string | undefined = undefined;
  traceparent: string | undefined = undefined;
  "cache-control": string | undefined = undefined;
}

type ReadHeaders = Partial<
  Pick<IncomingHttpHeaders, Exclude<keyof CallHeaders, "traceparent"> | "transfer-encoding">
> & { readonly traceparent?: string | string[] | undefined };

/** A request without its body. Header names are in lower case. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** Path and query, as sent. */
  readonly url?: string | undefined;
  readonly headers: Readonly<ReadHeaders>;
  /** The lines of each header that may have several. The fast path takes no request that repeats a header of `CallHeaders`. */
  readonly headersDistinct?: Readonly<Partial<Record<string, readonly string[]>>> | undefined;
}

/** A body that is still arriving. */
export interface BodyStream {
  /** `error`: the connection broke before the body's end. Reading begins with the listener for `data`. */
  on(event: "data" | "end" | "error", listener: (chunk: Buffer) => void): unknown;
  listenerCount(event: "data"): number;
  pause(): unknown;
  resume(): unknown;
  /** True once all of it has been read. */
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  /** Its connection. */
  readonly socket: object;
}

/** The body if it came with its head, else the stream to read it from. */
export type RequestBody = Buffer | BodyStream;

/**
 * Most characters of a text that is joined to the head. Joining copies the text again, which takes several times as long for a longer
 * one.
 */
export const joinedMax = 65_536;

/** The sink of an answer: it takes a head, then text, then the end. */
export interface ResponseSink {
  /** True once `writeHead` was called. */
  readonly headersSent: boolean;
  /** True once the connection is closed. */
  readonly destroyed: boolean;
  /** Adds a header to those of `writeHead`. @throws TypeError for characters that a header must not have */
  setHeader(name: string, value: string): unknown;
  /**
   * The head is sent with the first text, in one write. Without a content-length the answer is chunked. @throws TypeError as
   * `setHeader`
   */
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  /** False when the client reads slower than we write: wait for `drain`. */
  write(text: string): boolean;
  end(text: string): unknown;
  /** `latin1` if the whole text is known to be ASCII. */
  end(text: string, encoding: "latin1" | "utf8"): unknown;
  /** `close`: the answer is over, or the client left before; `drain`: the written bytes have left. */
  on(event: "close" | "drain", listener: () => void): unknown;
}

/** A request whose route is known. Fastify's requests fit too. */
export interface Routed {
  readonly raw: RequestHead;
  readonly match: RouteMatch;
}

/** The fields of a request's access log line and trace that its head does not have. */
export interface RequestRecord {
  /** Undefined if the request is not traced. */
  readonly span: Span | undefined;
  /** The id of its API key; undefined before it is known, and where no key is needed. */
  keyId: string | undefined;
  /** The pattern of its path, if the table of routes has none. */
  route: string | undefined;
}

/** One request, and the sink for its answer. */
export interface RequestContext extends Routed {
  readonly response: ResponseSink;
  /** The request's id, which its answer and its logs carry. */
  readonly id: string;
  /** Filled in later, for the access log. */
  readonly record?: RequestRecord | undefined;
}

/** A request whose body may still be arriving. */
export interface IncomingRequest extends RequestContext {
  /** Its reader clears this: the request lives as long as its answer, and would keep the body in memory. */
  body: RequestBody | undefined;
}
