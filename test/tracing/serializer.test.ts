/** Spans as OTLP's protobuf: the same bytes as OpenTelemetry's own serializer writes, for any span that we can make. */
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SpanWriter } from "../../src/tracing/serializer.ts";
import { newTrace, SentSpan, type Place } from "../../src/tracing/spans.ts";

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
  attributes: fc.dictionary(fc.string({ minLength: 1, maxLength: 150 }), value, {
    noNullPrototype: true,
  }),
  again: fc.dictionary(fc.constantFrom("a", "b", "error.type"), value, { noNullPrototype: true }),
  remote: fc.boolean(),
  child: fc.boolean(),
  error: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
});

const source = {
  resource: resourceFromAttributes({ "service.name": "tollgate", "host.name": "h" }),
  scope: { name: "tollgate", version: "1.2.3" },
};

/** A span as the SDK has it: each attribute once, where it was last set. */
function readable(span: SentSpan): ReadableSpan {
  const attributes: Record<string, string | number | boolean> = {};
  for (const part of span.parts)
    for (const [name, value] of Object.entries(part)) {
      if (value === undefined) continue;
      delete attributes[name];
      attributes[name] = value;
    }
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => span.spanContext(),
    parentSpanContext: span.parentSpanContext,
    startTime: span.startTime,
    endTime: span.endTime,
    duration: [0, 0],
    status: span.status,
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

it("writes what OpenTelemetry's serializer writes, byte for byte", () => {
  fc.assert(
    fc.property(fc.array(spanOf, { minLength: 1, maxLength: 12 }), (all) => {
      const ended: SentSpan[] = [];
      const home = {
        ended: (span: SentSpan) => void ended.push(span),
        passesTo: () => true,
      };
      for (const { name, kind, attributes, again, remote, child, error } of all) {
        const place: Place = remote
          ? {
              traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
              parent: {
                traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
                spanId: "00f067aa0ba902b7",
                traceFlags: 1,
                isRemote: true,
              },
              isSampled: true,
            }
          : newTrace(() => true);
        const root = new SentSpan(home, { kind, name, place });
        const span = child ? root.child(kind, name) : root;
        span.set({ ...attributes, [Object.keys(again)[0] ?? ""]: undefined });
        span.set(again);
        span.end(error);
      }
      const theirs = ProtobufTraceSerializer.serializeRequest(ended.map(readable))!;
      const writer = new SpanWriter(source);
      for (const span of ended) writer.add(span);
      expect(writer.count).toBe(ended.length);
      const { count, request } = writer.take();
      expect(count).toBe(ended.length);
      expect(Buffer.from(request).equals(Buffer.from(theirs))).toBe(true);
    }),
    { numRuns: 200 },
  );
});
