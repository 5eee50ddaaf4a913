/**
 * Traces as the rest of the gateway sees them: spans with a name, attributes and an end. `src/tracing` makes them with
 * OpenTelemetry and sends them away; where tracing is off there is no tracer, and nothing here runs. docs/monitoring.md.
 *
 * Prompts, answers, keys and headers never become attributes. Ids of workspaces, keys and requests may.
 */

/** What an attribute may be. */
type Attribute = string | number | boolean;

/** Attributes by OpenTelemetry's names, or below `tollgate.`; undefined ones are left out. */
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** `server`: a request that came in. `client`: one that goes out. `internal`: work of ours. */
export type SpanKind = "server" | "client" | "internal";

/** One piece of work in a trace. */
export interface Span {
  name: string;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** False: it only carries its ids on, and is sent nowhere. */
  readonly isSampled: boolean;
  /** Itself as a W3C `traceparent`. */
  readonly traceparent: string;
  /** The `traceparent` for a request to this address; undefined where the setting keeps it here. */
  passedTo(address: string): string | undefined;
  child(kind: SpanKind, name: string): Span;
  /** Adds attributes; also after `end` as long as someone else `keep`s it. */
  set(attributes: Attributes): void;
  /** One more `end` is needed before it is over: who calls this will call that. */
  keep(): void;
  /** Ends it; `error` is a code of a closed set, or a status, and marks it as failed. */
  end(error?: string): void;
}

/** Where spans begin. */
export interface Tracer {
  /** A span below the one that a `traceparent` names, or the first of a trace where that is absent or not valid. */
  start(kind: SpanKind, name: string, traceparent?: string): Span;
}

/** The longest header that is read: version 00 has 55 characters, later ones may have more. */
const traceparentMax = 256;

/** Version, trace, parent, flags. What follows a later version's flags is not ours to read. */
const traceparentForm =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** What a `traceparent` says. */
export interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Reads a `traceparent` (W3C Trace Context, section 3.2); undefined for whatever is not exactly one. */
export function readTraceparent(text: string | undefined): Traceparent | undefined {
  if (text === undefined || text.length > traceparentMax) return undefined;
  const match = traceparentForm.exec(text);
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, more] = match;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}
