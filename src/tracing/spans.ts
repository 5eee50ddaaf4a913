/**
 * A span, until it is written (serializer.ts). It is an object of ours, because one of the SDK's costs a call several times as
 * much: limits, processors and contexts that nothing here needs.
 */
import { SpanKind as Kind, SpanStatusCode } from "@opentelemetry/api";
import type { HrTime, SpanContext, SpanStatus } from "@opentelemetry/api";
import type { Attributes, Span, SpanKind } from "../base/tracing.ts";
import { newSpanId, newTraceId } from "./ids.ts";

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
const unset: SpanStatus = { code: SpanStatusCode.UNSET };
const failed: SpanStatus = { code: SpanStatusCode.ERROR };

/** Where a span stands: its trace, and the parent it has there. */
export interface Place {
  readonly traceId: string;
  readonly parent: SpanContext | undefined;
  readonly isSampled: boolean;
}

/** The place of the first span of a new trace. */
export const newTrace = (isSampled: (traceId: string) => boolean): Place => {
  const traceId = newTraceId();
  return { traceId, parent: undefined, isSampled: isSampled(traceId) };
};

/** A moment on both clocks: the day's, and the one that never goes back. */
interface Began {
  readonly epochMs: number;
  readonly ms: number;
}

/** A span that only carries the ids of its trace on. */
export class CarriedSpan implements Span {
  name = "";
  readonly isSampled = false;
  readonly traceId: string;
  readonly #spanId = newSpanId();
  readonly #home: SpanHome;

  constructor(home: SpanHome, { traceId }: Place) {
    this.#home = home;
    this.traceId = traceId;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.#spanId}-00`;
  }

  passedTo(address: string): string | undefined {
    return this.#home.passesTo(address) ? this.traceparent : undefined;
  }

  child(): Span {
    return this;
  }

  set(): void {}
  keep(): void {}
  end(): void {}
}

/** A span that is sent. */
export class SentSpan implements Span {
  name: string;
  readonly kind: Kind;
  readonly traceId: string;
  readonly isSampled = true;
  readonly parentSpanContext: SpanContext | undefined;
  /** What was set, in that order: written once, when it is over (serializer.ts). */
  readonly parts: Attributes[] = [];
  status = unset;
  endTime: HrTime = [0, 0];
  readonly #home: SpanHome;
  readonly spanId = newSpanId();
  readonly #began: Began;
  readonly #startMs: number;
  /** How many must end it. */
  #open = 1;

  constructor(home: SpanHome, { kind, name, place, began }: SpanStart) {
    this.#home = home;
    this.kind = kinds[kind];
    this.name = name;
    this.traceId = place.traceId;
    this.parentSpanContext = place.parent;
    this.#startMs = performance.now();
    this.#began = began ?? { epochMs: Date.now(), ms: this.#startMs };
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  passedTo(address: string): string | undefined {
    return this.#home.passesTo(address) ? this.traceparent : undefined;
  }

  child(kind: SpanKind, name: string): Span {
    const place = { traceId: this.traceId, parent: this.spanContext(), isSampled: true };
    return new SentSpan(this.#home, { kind, name, place, began: this.#began });
  }

  set(attributes: Attributes): void {
    this.parts.push(attributes);
  }

  keep(): void {
    this.#open += 1;
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.status = failed;
      this.set({ "error.type": error });
    }
    this.#open -= 1;
    if (this.#open !== 0) return;
    this.endTime = this.#timeAt(performance.now());
    this.#home.ended(this);
  }

  spanContext(): SpanContext {
    return { traceId: this.traceId, spanId: this.spanId, traceFlags: 1 };
  }

  /** Spans of one trace here have one origin, so that none begins before its parent. */
  #timeAt(ms: number): HrTime {
    const { epochMs, ms: originMs } = this.#began;
    const sinceMs = ms - originMs;
    const wholeMs = epochMs + Math.floor(sinceMs);
    const nanos = Math.round((sinceMs - Math.floor(sinceMs)) * 1e6);
    return [Math.floor(wholeMs / 1000), Math.min((wholeMs % 1000) * 1e6 + nanos, 999_999_999)];
  }

  get startTime(): HrTime {
    return this.#timeAt(this.#startMs);
  }
}

/** How a span begins. */
interface SpanStart {
  readonly kind: SpanKind;
  readonly name: string;
  readonly place: Place;
  /** The origin of its trace's times here; it is one itself if absent. */
  readonly began?: Began;
}
