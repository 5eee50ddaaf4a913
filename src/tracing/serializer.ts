/**
 * Spans as OTLP's protobuf (opentelemetry-proto, trace/v1). The SDK's own serializer takes 7 µs a span and this one a tenth of
 * that: what spans share is encoded once, ids are numbers, and a span is written when it ends, so that no object of it outlives
 * its call. A test holds the bytes to the SDK's, byte for byte.
 */
import type { ISerializer } from "@opentelemetry/otlp-transformer";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import { inResource, writeAttribute, writePart, writeText, type Value } from "./attributes.ts";
import type { SpanId, TraceId } from "./ids.ts";
import { ProtobufWriter, varintSize } from "./protobuf.ts";
import type { Origin, SentSpan } from "./spans.ts";

type Response = ReturnType<typeof ProtobufTraceSerializer.deserializeResponse>;

/** Bit 8: it is known whether the parent is elsewhere; bit 9: it is. */
const parentKnown = 0x100;
const parentElsewhere = 0x200;
const sampled = 1;
/** Everything of a span but its name and attributes. */
const fixedBytesMax = 128;
/** OTLP's status of a failed span. */
const failed = 2;

function writeTraceId(writer: ProtobufWriter, id: TraceId): void {
  writer.byte(0x0a);
  writer.byte(16);
  writer.word(id.first);
  writer.word(id.second);
  writer.word(id.third);
  writer.word(id.fourth);
}

function writeSpanId(writer: ProtobufWriter, tag: number, { high, low }: SpanId): void {
  writer.byte(tag);
  writer.byte(8);
  writer.word(high);
  writer.word(low);
}

function writeTime(writer: ProtobufWriter, tag: number, { epochMs, ms }: Origin, at: number): void {
  const sinceMs = at - ms;
  const wholeMs = Math.floor(sinceMs);
  writer.byte(tag);
  writer.time(epochMs + wholeMs, Math.min(999_999, Math.round((sinceMs - wholeMs) * 1e6)));
}

function writeSaid(writer: ProtobufWriter, said: SentSpan["said"]): void {
  for (let index = 0; index < said.length; index += 1) {
    const one = said[index]!;
    if (typeof one === "object") writePart(writer, one);
    else writeAttribute(writer, one as string, said[++index] as Value);
  }
}

function writeSpan(writer: ProtobufWriter, span: SentSpan): void {
  const { trace, parent } = span;
  writer.reserve(fixedBytesMax);
  writeTraceId(writer, trace.id);
  writeSpanId(writer, 0x12, span.id);
  if (parent !== undefined) writeSpanId(writer, 0x22, parent);
  writeText(writer, 0x2a, span.name);
  writer.reserve(fixedBytesMax);
  writer.byte(0x30);
  writer.byte(span.kind + 1);
  writeTime(writer, 0x39, trace.origin, span.startMs);
  writeTime(writer, 0x41, trace.origin, span.endMs);
  writeSaid(writer, span.said);
  writer.reserve(fixedBytesMax);
  // No attributes, events or links were dropped, and of the last two there are none.
  for (let tag = 0x50; tag <= 0x70; tag += 0x10) {
    writer.byte(tag);
    writer.byte(0);
  }
  writer.byte(0x7a);
  writer.byte(2);
  writer.byte(0x18);
  writer.byte(span.isFailed ? failed : 0);
  const isElsewhere = parent !== undefined && parent === trace.parent;
  writer.byte(0x85);
  writer.byte(0x01);
  writer.fixed32(sampled | parentKnown | (isElsewhere ? parentElsewhere : 0));
}

/** A message within another, whose size is known before it is written. */
function messageOf(tag: number, write: (writer: ProtobufWriter) => void): Uint8Array {
  const own = new ProtobufWriter();
  write(own);
  const whole = new ProtobufWriter(own.at + 8);
  whole.byte(tag);
  whole.varint(own.at);
  whole.copy(own.written());
  return whole.written();
}

const resourceMessage = (resource: Resource): Uint8Array =>
  messageOf(0x0a, (writer) => {
    for (const [name, value] of Object.entries(resource.attributes))
      writeAttribute(writer, name, value as string, inResource);
    writer.reserve(2);
    writer.byte(0x10);
    writer.byte(0);
  });

const scopeMessage = ({ name, version }: SpanSource["scope"]): Uint8Array =>
  messageOf(0x0a, (writer) => {
    writeText(writer, 0x0a, name);
    writeText(writer, 0x12, version);
  });

/** What all spans of a tracer are of, and who made them. */
interface SpanSource {
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version: string };
}

/** An `ExportTraceServiceRequest`, and how many spans it has. */
export interface SpanBatch {
  readonly count: number;
  readonly request: Uint8Array;
}

const bytesMin = 65_536;
const bytesMax = 4 * 1024 * 1024;
/** A buffer with as many bytes leaves with its spans; fewer are copied, because they may wait, and many such batches with them. */
const bytesSmall = 32_768;
/** Two tags and two numbers. */
const lengthsMax = 16;

/**
 * Spans of one tracer as an `ExportTraceServiceRequest`, written one by one as they end: nothing else is kept of them. What
 * stands before them says how long they are. It is therefore written last, into room that was left for it.
 */
export class SpanWriter {
  readonly #resource: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #spansAt: number;
  #writer: ProtobufWriter;
  /** Spans written since the last `take`. */
  count = 0;

  constructor({ resource, scope }: SpanSource) {
    this.#resource = resourceMessage(resource);
    this.#scope = scopeMessage(scope);
    this.#spansAt = this.#resource.length + this.#scope.length + lengthsMax;
    this.#writer = this.#begun(bytesMin);
  }

  #begun(bytes: number): ProtobufWriter {
    const writer = new ProtobufWriter(bytes);
    writer.reserve(this.#spansAt);
    writer.at = this.#spansAt;
    return writer;
  }

  add(span: SentSpan): void {
    const writer = this.#writer;
    this.count += 1;
    writer.reserve(8);
    writer.byte(0x12);
    // Two bytes are kept for its size, and moved where it is another.
    const start = writer.at;
    writer.at += 2;
    writeSpan(writer, span);
    const length = writer.at - start - 2;
    const size = varintSize(length);
    writer.reserve(8);
    if (size !== 2) writer.bytes.copyWithin(start + size, start + 2, writer.at);
    writer.at = start;
    writer.varint(length);
    writer.at = start + size + length;
  }

  /** The request with the spans written so far, and begins the next. */
  take(): SpanBatch {
    const writer = this.#writer;
    const { count } = this;
    const end = writer.at;
    const scopeSpans = this.#scope.length + end - this.#spansAt;
    const ofResource = this.#resource.length + 1 + varintSize(scopeSpans) + scopeSpans;
    const start = end - ofResource - 1 - varintSize(ofResource);
    writer.at = start;
    writer.byte(0x0a);
    writer.varint(ofResource);
    writer.copy(this.#resource);
    writer.byte(0x12);
    writer.varint(scopeSpans);
    writer.copy(this.#scope);
    this.count = 0;
    const request = writer.bytes.subarray(start, end);
    if (end < bytesSmall) {
      writer.at = this.#spansAt;
      return { count, request: Buffer.from(request) };
    }
    // The next is mostly as long as this one.
    this.#writer = this.#begun(Math.min(bytesMax, Math.ceil(end * 1.125)));
    return { count, request };
  }
}

/** Takes what is written already; answers are read with the SDK's. */
export const spanSerializer: ISerializer<SpanBatch, Response> = {
  serializeRequest: ({ request }) => request,
  deserializeResponse: (bytes) => ProtobufTraceSerializer.deserializeResponse(bytes),
};
