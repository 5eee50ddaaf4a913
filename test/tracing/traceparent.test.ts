/** `traceparent` is read by its specification (W3C Trace Context, section 3.2), and written back as it was read. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { newSpanId, newTraceId, type SpanId, type TraceId } from "../../src/tracing/ids.ts";
import { readTraceparent } from "../../src/tracing/traceparent.ts";

/** Version, trace, parent, flags. The rest of a later version is ignored. */
const pattern =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/s;

function readByPattern(text: string): readonly [string, string, boolean] | undefined {
  const match = text.length > 256 ? null : pattern.exec(text);
  if (match === null || (match[1] === "00" && match[5] !== undefined)) return undefined;
  return [match[2]!, match[3]!, (Number.parseInt(match[4]!, 16) & 1) === 1];
}

const word = (value: number): string => (value >>> 0).toString(16).padStart(8, "0");
const spanText = ({ high, low }: SpanId): string => word(high) + word(low);
const traceText = ({ first, second, third, fourth }: TraceId): string =>
  [first, second, third, fourth].map(word).join("");

const hex = (digits: number) =>
  fc.oneof(
    {
      arbitrary: fc.string({
        unit: fc.constantFrom(...Array.from({ length: 16 }, (_, value) => value.toString(16))),
        minLength: digits,
        maxLength: digits,
      }),
      weight: 8,
    },
    { arbitrary: fc.constant("0".repeat(digits)), weight: 1 },
    { arbitrary: fc.constant("f".repeat(digits)), weight: 1 },
  );
const complete = fc
  .tuple(
    fc.oneof(hex(2), fc.constant("00")),
    hex(32),
    hex(16),
    hex(2),
    fc.constantFrom("", "", "-", "-more", "x", `-${"y".repeat(200)}`, `-${"y".repeat(201)}`),
  )
  .map(([version, trace, span, flags, more]) => `${version}-${trace}-${span}-${flags}${more}`);
/** A traceparent with one character that may be invalid. */
const damaged = fc
  .tuple(
    complete,
    fc.nat(54),
    fc.constantFrom("A", "F", "g", "-", " ", "/", ":", "`", "é", "0", "\u{ff10}"),
  )
  .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
const cut = fc.tuple(complete, fc.nat(60)).map(([text, length]) => text.slice(0, length));

it("exactly the traceparents of the specification are read", () => {
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(fc.oneof(complete, damaged, cut, fc.string()), (text) => {
      const read = readTraceparent(text);
      const wanted = readByPattern(text);
      seen[wanted === undefined ? "refused" : "read"] += 1;
      expect(read && [read.traceId.text, read.spanId.text, read.isSampled]).toEqual(wanted);
      expect(read && [traceText(read.traceId), spanText(read.spanId)]).toEqual(wanted?.slice(0, 2));
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(100);
  expect(readTraceparent(undefined)).toBeUndefined();
});

it("random ids are unique, and their text matches their words", () => {
  const ids = Array.from({ length: 1_000 }, () => [newTraceId(), newSpanId()] as const);
  for (const [trace, span] of ids) {
    expect(trace.text).toMatch(/^[0-9a-f]{32}$/);
    expect(span.text).toMatch(/^[0-9a-f]{16}$/);
    expect([traceText(trace), spanText(span)]).toEqual([trace.text, span.text]);
  }
  expect(new Set(ids.flat().map(({ text }) => text)).size).toBe(2_000);
});
