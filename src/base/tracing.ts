/**
 * The interface of traces: spans with a name, attributes and an end. `src/tracing` makes them with OpenTelemetry and exports them; if
 * tracing is off there is no tracer, and nothing here runs. docs/monitoring.md.
 *
 * Prompts, answers, keys and headers never become attributes. Ids of workspaces, keys and requests may.
 */

type Attribute = string | number | boolean;

/** Attributes by OpenTelemetry's names, or below `tollgate.`; undefined ones are left out. */
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** Attributes that many spans share. Made once and cached (`sharedParts`), so that they are encoded once. */
export class SharedPart {
  readonly attributes: Attributes;
  /** The name that a span gets with it; undefined: the span keeps its name. */
  readonly name: string | undefined;
  /** The encoded attributes, cached by the exporter. */
  bytes: Uint8Array | undefined = undefined;

  constructor(attributes: Attributes, name: string | undefined) {
    this.attributes = attributes;
    this.name = name;
  }
}

/** `server`: an incoming request. `client`: an outgoing request. `internal`: the gateway's own work. */
export type SpanKind = "server" | "client" | "internal";

/** One piece of work in a trace. */
export interface Span {
  name: string;
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** False if it only passes its ids on, and is not exported. */
  readonly isSampled: boolean;
  /** The span as a W3C `traceparent`. */
  readonly traceparent: string;
  /** Returns the `traceparent` for a request to this address; undefined if the settings do not send it there. */
  passedTo(address: string): string | undefined;
  child(kind: SpanKind, name: string): Span;
  /** Adds attributes; also after `end`, as long as another `keep` holds the span. */
  set(attributes: Attributes): void;
  /** Adds one attribute without an object, for spans that are many. No other call may set this name; undefined adds nothing. */
  add(name: string, value: Attribute | undefined): void;
  /** Adds attributes that spans share. No other call may set their names. */
  share(part: SharedPart): void;
  /** Requires one more `end` before the span is over: each caller of this must also call that. */
  keep(): void;
  /** Ends the span; `error` is a code of a closed set, or a status, and marks the span as failed. */
  end(error?: string): void;
}

/** Starts spans. */
export interface Tracer {
  /**
   * Starts a span below the one in `traceparent`, or the first of a trace if that is absent or invalid.
   * @param beganMs when it began by `performance.now()`, where the caller has just read that
   */
  start(kind: SpanKind, name: string, traceparent?: string, beganMs?: number): Span;
}
