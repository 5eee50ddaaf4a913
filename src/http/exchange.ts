/**
 * What the text endpoints need of a request and of the place its answer goes to. Node's IncomingMessage and ServerResponse
 * have it, and so have the requests and answers of the fast path (front/fast/).
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Span } from "../base/tracing.ts";
import type { RouteMatch } from "./routes.ts";

/** Headers of one request, and bytes of its head; above it the answer is 431, whoever reads it. */
export const headersMax = 500;
export const headBytesMax = 16_384;

/**
 * The headers that are read of a text call: the fast path keeps no others. Each at most once there, and all are there from
 * the start: objects of one shape are read fastest.
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
  "x-gw-metadata": string | undefined = undefined;
  "x-gw-end-user": string | undefined = undefined;
  origin: string | undefined = undefined;
  "x-forwarded-for": string | undefined = undefined;
  "user-agent": string | undefined = undefined;
  traceparent: string | undefined = undefined;
  "cache-control": string | undefined = undefined;
}

type ReadHeaders = Partial<
  Pick<IncomingHttpHeaders, Exclude<keyof CallHeaders, "traceparent"> | "transfer-encoding">
> & { readonly traceparent?: string | string[] | undefined };

/** A request without its body. The names of headers are in lower case. */
export interface RequestHead {
  readonly method?: string | undefined;
  /** Path and query, as sent. */
  readonly url?: string | undefined;
  readonly headers: Readonly<ReadHeaders>;
  /** The lines of each header, where one may have several. The fast path takes no request with two of a name that is read. */
  readonly headersDistinct?: Readonly<Partial<Record<string, readonly string[]>>> | undefined;
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

/** A longer text is sent by itself: joined to the head it would be copied once more, which takes several times as long. */
export const joinedMax = 65_536;

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
  /** `latin1` where all of it is known to be ASCII. */
  end(text: string, encoding: "latin1" | "utf8"): unknown;
  /** `close`: the answer is over, or the client left before; `drain`: what was written has left. */
  on(event: "close" | "drain", listener: () => void): unknown;
}

/** A request whose route is known. Fastify's requests are such too. */
export interface Routed {
  readonly raw: RequestHead;
  readonly match: RouteMatch;
}

/** What a request's line in the access log and its trace say beside its head. */
export interface Seen {
  /** Where it is traced. */
  readonly span: Span | undefined;
  /** Whose key it has; undefined before that is known, and where none is needed. */
  keyId: string | undefined;
  /** The pattern of its path, where the table of routes has none. */
  route: string | undefined;
}

/** One request, and where its answer goes. */
export interface Asked extends Routed {
  readonly response: ResponseSink;
  /** The request's id, which its answer and its logs carry. */
  readonly id: string;
  /** What is known of it later, for its line in the access log. */
  readonly seen?: Seen | undefined;
}

/** A request whose body may still be on its way. */
export interface Received extends Asked {
  /** Taken by whoever reads it: the request lives as long as its answer. */
  body: RequestBody | undefined;
}
