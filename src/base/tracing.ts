/**
 * Traces as the rest of the gateway sees them: spans with a name, attributes and an end. `src/tracing` makes them with
 * OpenTelemetry and sends them away; where tracing is off there is no tracer, and nothing here runs. docs/monitoring.md.
 *
 * Prompts, answers, keys and headers never become attributes. Ids of workspaces, keys and requests may.
 */

type Attribute = string | number | boolean;

/** Attributes by OpenTelemetry's names, or below `tollgate.`; undefined ones are left out. */
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** What many spans say in the same words. It is made once and kept (`sharedParts`), so that it is encoded once. */
export class SharedPart {
  readonly attributes: Attributes;
  /** What a span of it is called; undefined: it keeps its name. */
  readonly name: string | undefined;
  /** The attributes as bytes, kept by who writes spans. */
  bytes: Uint8Array | undefined = undefined;

  constructor(attributes: Attributes, name: string | undefined) {
    this.attributes = attributes;
    this.name = name;
  }
}

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
  /** Adds one attribute, in a span of which there are many: without an object. Nothing else may set this name; undefined adds nothing. */
  add(name: string, value: Attribute | undefined): void;
  /** Adds what other spans say too. Nothing else may set its names. */
  share(part: SharedPart): void;
  /** One more `end` is needed before it is over: who calls this will call that. */
  keep(): void;
  /** Ends it; `error` is a code of a closed set, or a status, and marks it as failed. */
  end(error?: string): void;
}

/** Where spans begin. */
export interface Tracer {
  /**
   * A span below the one that a `traceparent` names, or the first of a trace where that is absent or not valid.
   * @param beganMs when it began by `performance.now()`, where the caller has just read that
   */
  start(kind: SpanKind, name: string, traceparent?: string, beganMs?: number): Span;
}
