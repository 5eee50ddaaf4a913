/** Spans as OTLP's protobuf: the same bytes as from OpenTelemetry's own serializer, for any span that the gateway can make. */
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { SpanStatusCode } from "@opentelemetry/api";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SharedPart } from "../../src/base/tracing.ts";
import { newTraceId } from "../../src/tracing/ids.ts";
import { SpanWriter } from "../../src/tracing/serializer.ts";
import { SampledSpan, type Trace } from "../../src/tracing/spans.ts";
import { readTraceparent } from "../../src/tracing/traceparent.ts";

const value = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.boolean(),
  fc.nat(),
  fc.maxSafeNat(),
  fc.double({ noInteger: true }),
  fc.constantFrom("", "é".repeat(60), "x".repeat(127), "x".repeat(128), "x".repeat(20_000)),
);
const spanOf = fc.record({
  name: fc.string({ unit: "grapheme", maxLength: 200 }),
  kind: fc.constantFrom("server", "client", "internal"),
  // Names that do not begin with digits, because an object would move those to its front.
  attributes: fc.dictionary(
    fc.string({ maxLength: 150 }).map((name) => `own ${name}`),
    value,
    { noNullPrototype: true },
  ),
  again: fc.dictionary(fc.constantFrom("a", "b", "error.type"), value, { noNullPrototype: true }),
  shared: fc.option(
    fc.dictionary(
      fc.string().map((name) => `shared ${name}`),
      value,
    ),
    {
      nil: undefined,
    },
  ),
  added: fc.option(value, { nil: undefined }),
  remote: fc.boolean(),
  child: fc.boolean(),
  error: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
});

const source = {
  resource: resourceFromAttributes({ "service.name": "tollgate", "host.name": "h" }),
  scope: { name: "tollgate", version: "1.2.3" },
};

/** Both clocks at one moment. The time of day is near a point where the seconds need one bit more, or is recent. */
const origin = fc.record({
  epochMs: fc.constantFrom(1_795_520_771_805, 2 ** 32 * 1_000 - 1, 65_536 * 27_397_472 - 2, 1e6),
  ms: fc.constantFrom(0, 12_345.678901),
});

const time = ({ epochMs, ms }: Trace["origin"], at: number): [number, number] => {
  const wholeMs = Math.floor(at - ms);
  const nanos = Math.min(999_999, Math.round((at - ms - wholeMs) * 1e6));
  const sinceEpoch = epochMs + wholeMs;
  return [Math.floor(sinceEpoch / 1_000), (sinceEpoch % 1_000) * 1e6 + nanos];
};

/** A span in the SDK's form: each attribute once. */
function readable(span: SampledSpan): ReadableSpan {
  const attributes: Record<string, string | number | boolean | undefined> = {};
  const { said, trace, parent } = span;
  for (let index = 0; index < said.length; index += 1) {
    const one = said[index]!;
    if (typeof one === "object") Object.assign(attributes, one.attributes);
    else attributes[one as string] = said[++index] as string;
  }
  const context = ({ text }: { readonly text: string }) => ({
    traceId: trace.id.text,
    spanId: text,
    traceFlags: 1,
  });
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => context(span.id),
    parentSpanContext: parent && { ...context(parent), isRemote: parent === trace.parent },
    startTime: time(trace.origin, span.startMs),
    endTime: time(trace.origin, span.endMs),
    duration: [0, 0],
    status: { code: span.isFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource: source.resource,
    instrumentationScope: source.scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const remote = readTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")!;

it("the writer produces the bytes of OpenTelemetry's serializer", () => {
  const writer = new SpanWriter(source);
  fc.assert(
    fc.property(fc.array(spanOf, { minLength: 1, maxLength: 12 }), origin, (all, origin) => {
      const ended: SampledSpan[] = [];
      const home = {
        ended: (span: SampledSpan) => void ended.push(span),
        passesTo: () => true,
      };
      for (const { name, kind, attributes, again, shared, added, ...one } of all) {
        const trace: Trace = one.remote
          ? { id: remote.traceId, parent: remote.spanId, origin }
          : { id: newTraceId(), parent: undefined, origin };
        const root = new SampledSpan(home, { kind, name, trace });
        const span = one.child ? root.child(kind, name) : root;
        if (shared !== undefined) span.share(new SharedPart(shared, undefined));
        span.add("added", added);
        span.set({ ...attributes, [Object.keys(again)[0] ?? ""]: undefined });
        span.set(again);
        span.end(one.error);
      }
      const theirs = ProtobufTraceSerializer.serializeRequest(ended.map(readable))!;
      for (const span of ended) writer.add(span);
      expect(writer.count).toBe(ended.length);
      const { count, request } = writer.take();
      expect(count).toBe(ended.length);
      expect(Buffer.from(request).equals(Buffer.from(theirs))).toBe(true);
    }),
    { numRuns: 200 },
  );
});
