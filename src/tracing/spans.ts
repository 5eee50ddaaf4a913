/**
 * A span until it is written (serializer.ts). It is not an SDK span, because one costs a call several times as much: limits,
 * processors and contexts that the gateway does not need.
 */
import { SpanKind as Kind } from "@opentelemetry/api";
import type { Attributes, SharedPart, Span, SpanKind } from "../base/tracing.ts";
import { newSpanId, type SpanId, type TraceId } from "./ids.ts";

/** The functions that all spans of a tracer share. */
export interface SpanSink {
  /** Takes an ended span. */
  ended(span: SampledSpan): void;
  /** True if traces are propagated to this address. */
  passesTo(address: string): boolean;
}

const kinds: Readonly<Record<SpanKind, Kind>> = {
  internal: Kind.INTERNAL,
  server: Kind.SERVER,
  client: Kind.CLIENT,
};

/** An unsampled span that only propagates the ids of its trace. */
export class UnsampledSpan implements Span {
  name = "";
  readonly isSampled = false;
  readonly traceId: string;
  readonly #id = newSpanId();
  readonly #sink: SpanSink;

  constructor(home: SpanSink, traceId: TraceId) {
    this.#sink = home;
    this.traceId = traceId.text;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.#id.text}-00`;
  }

  passedTo(address: string): string | undefined {
    return this.#sink.passesTo(address) ? this.traceparent : undefined;
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

/** One moment on both clocks: the wall clock and the monotonic clock. */
export interface Origin {
  readonly epochMs: number;
  readonly ms: number;
}

/** The data that all spans of a trace in this process share. */
export interface Trace {
  readonly id: TraceId;
  /** The remote parent of the first span. */
  readonly parent: SpanId | undefined;
  /** All times are computed from it, so that no span begins before its parent. */
  readonly origin: Origin;
}

type Value = string | number | boolean;

/** The start of a span. */
interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  readonly trace: Trace;
  /** The parent within this process; the first span has the parent of its trace. */
  readonly parent?: SpanId;
  readonly beganMs?: number | undefined;
}

/** A sampled span. */
export class SampledSpan implements Span {
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
  /** Attribute names, each followed by its value, and shared parts. */
  readonly said: (Value | SharedPart)[] = [];
  readonly #sink: SpanSink;
  /** The number of `end` calls until it ends. */
  #open = 1;

  constructor(home: SpanSink, { kind, name, trace, parent = trace.parent, beganMs }: SpanStart) {
    this.#sink = home;
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
    return this.#sink.passesTo(address) ? this.traceparent : undefined;
  }

  child(kind: SpanKind, name: string): Span {
    return new SampledSpan(this.#sink, { kind, name, trace: this.trace, parent: this.id });
  }

  set(attributes: Attributes): void {
    for (const name in attributes) {
      const value = attributes[name];
      if (value !== undefined) this.#put(name, value);
    }
  }

  /** Replaces an existing attribute of the same name. */
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
    this.#sink.ended(this);
  }
}
