/**
 * A span, until it is written (serializer.ts). It is an object of ours, because one of the SDK's costs a call several times as
 * much: limits, processors and contexts that nothing here needs.
 */
import { SpanKind as Kind } from "@opentelemetry/api";
import type { Attributes, SharedPart, Span, SpanKind } from "../base/tracing.ts";
import { newSpanId, type SpanId, type TraceId } from "./ids.ts";

/** What all spans of a tracer share. */
export interface SpanHome {
  /** Takes a span that is over. */
  ended(span: SentSpan): void;
  /** Whether traces are passed on to this address. */
  passesTo(address: string): boolean;
}

const kinds: Readonly<Record<SpanKind, Kind>> = {
  internal: Kind.INTERNAL,
  server: Kind.SERVER,
  client: Kind.CLIENT,
};

/** A span that only carries the ids of its trace on. */
export class CarriedSpan implements Span {
  name = "";
  readonly isSampled = false;
  readonly traceId: string;
  readonly #id = newSpanId();
  readonly #home: SpanHome;

  constructor(home: SpanHome, traceId: TraceId) {
    this.#home = home;
    this.traceId = traceId.text;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.#id.text}-00`;
  }

  passedTo(address: string): string | undefined {
    return this.#home.passesTo(address) ? this.traceparent : undefined;
  }

  child(): Span {
    return this;
  }

  set(): void {}
  add(): void {}
  share(): void {}
  keep(): void {}
  end(): void {}
}

/** A moment on both clocks: the day's, and the one that never goes back. */
export interface Origin {
  readonly epochMs: number;
  readonly ms: number;
}

/** What the spans below one that began here have in common. */
export interface Trace {
  readonly id: TraceId;
  /** The parent that the first of them has elsewhere. */
  readonly parent: SpanId | undefined;
  /** All count their times from it, so that none begins before its parent. */
  readonly origin: Origin;
}

type Value = string | number | boolean;

/** How a span begins. */
interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  readonly trace: Trace;
  /** Within the trace here; the first has the parent of its trace. */
  readonly parent?: SpanId;
  readonly beganMs?: number | undefined;
}

/** A span that is sent. */
export class SentSpan implements Span {
  name: string;
  readonly kind: Kind;
  readonly isSampled = true;
  readonly trace: Trace;
  readonly id = newSpanId();
  readonly parent: SpanId | undefined;
  /** By `performance.now()`. */
  readonly startMs: number;
  endMs = 0;
  isFailed = false;
  /** Attributes as names with their values behind them, and shared parts. */
  readonly said: (Value | SharedPart)[] = [];
  readonly #home: SpanHome;
  /** How many must end it. */
  #open = 1;

  constructor(home: SpanHome, { kind, name, trace, parent = trace.parent, beganMs }: SpanStart) {
    this.#home = home;
    this.kind = kinds[kind];
    this.name = name;
    this.trace = trace;
    this.parent = parent;
    this.startMs = beganMs ?? performance.now();
  }

  get traceId(): string {
    return this.trace.id.text;
  }

  get traceparent(): string {
    return `00-${this.trace.id.text}-${this.id.text}-01`;
  }

  passedTo(address: string): string | undefined {
    return this.#home.passesTo(address) ? this.traceparent : undefined;
  }

  child(kind: SpanKind, name: string): Span {
    return new SentSpan(this.#home, { kind, name, trace: this.trace, parent: this.id });
  }

  set(attributes: Attributes): void {
    for (const name in attributes) {
      const value = attributes[name];
      if (value !== undefined) this.#put(name, value);
    }
  }

  /** What was set is set anew. */
  #put(name: string, value: Value): void {
    const { said } = this;
    for (let index = 0; index < said.length; index += typeof said[index] === "object" ? 1 : 2)
      if (said[index] === name) {
        said[index + 1] = value;
        return;
      }
    said.push(name, value);
  }

  add(name: string, value: Value | undefined): void {
    if (value !== undefined) this.said.push(name, value);
  }

  share(part: SharedPart): void {
    this.name = part.name ?? this.name;
    this.said.push(part);
  }

  keep(): void {
    this.#open += 1;
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.isFailed = true;
      this.#put("error.type", error);
    }
    this.#open -= 1;
    if (this.#open !== 0) return;
    this.endMs = performance.now();
    this.#home.ended(this);
  }
}
