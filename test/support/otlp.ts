/**
 * A collector for tests. It takes OTLP/HTTP as protobuf, as real collectors do. Its own parser shares no code with
 * OpenTelemetry's. opentelemetry-proto, trace/v1/trace.proto.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { endServer, listenOnLoopback } from "./loopback.ts";

/** A span as it arrived. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Names of the attributes that are doubles on the wire. */
  readonly doubles: readonly string[];
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** Sets how it answers from now on; initially 200. */
  answer(next: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

type Field = readonly [number: number, value: bigint | Buffer];

function varint(bytes: Buffer, at: number): readonly [value: bigint, next: number] {
  let value = 0n;
  for (let index = at, shift = 0n; ; index += 1, shift += 7n) {
    const byte = bytes[index]!;
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, index + 1];
  }
}

/** The fields of one message; numbers of 4 and 8 bytes stay raw bytes. */
function fields(bytes: Buffer): Field[] {
  const found: Field[] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag, start] = varint(bytes, at);
    const number = Number(tag >> 3n);
    const wire = Number(tag & 7n);
    if (wire === 0) {
      const [value, next] = varint(bytes, start);
      found.push([number, value]);
      at = next;
    } else if (wire === 1 || wire === 5) {
      at = start + (wire === 1 ? 8 : 4);
      found.push([number, bytes.subarray(start, at)]);
    } else if (wire === 2) {
      const [length, from] = varint(bytes, start);
      at = from + Number(length);
      if (at > bytes.length) throw new Error("a field is longer than its message");
      found.push([number, bytes.subarray(from, at)]);
    } else throw new Error(`wire type ${wire} is none of protobuf 3's`);
  }
  return found;
}

const all = (message: readonly Field[], number: number): Buffer[] =>
  message.flatMap(([one, value]) => (one === number ? [value as Buffer] : []));
const one = (message: readonly Field[], number: number): Buffer =>
  all(message, number).at(-1) ?? Buffer.alloc(0);
const count = (message: readonly Field[], number: number): number =>
  Number(message.findLast(([each]) => each === number)?.[1] ?? 0n);

function anyValue(bytes: Buffer): unknown {
  const [field] = fields(bytes);
  if (field === undefined) return undefined;
  const [number, value] = field;
  if (number === 1) return (value as Buffer).toString("utf8");
  if (number === 2) return value === 1n;
  if (number === 3) return Number(BigInt.asIntN(64, value as bigint));
  if (number === 4) return (value as Buffer).readDoubleLE();
  throw new Error(`an attribute of kind ${number}`);
}

/** @throws Error for a duplicate name, which collectors treat differently */
function attributesOf(message: readonly Field[], number: number): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const bytes of all(message, number)) {
    const pair = fields(bytes);
    const name = one(pair, 1).toString("utf8");
    if (Object.hasOwn(found, name)) throw new Error(`${name} is there twice`);
    found[name] = anyValue(one(pair, 2));
  }
  return found;
}

function spanOf(bytes: Buffer, resource: ReceivedSpan["resource"]): ReceivedSpan {
  const span = fields(bytes);
  return {
    traceId: one(span, 1).toString("hex"),
    spanId: one(span, 2).toString("hex"),
    parentSpanId: one(span, 4).toString("hex"),
    name: one(span, 5).toString("utf8"),
    kind: count(span, 6),
    startNano: one(span, 7).readBigUInt64LE(),
    endNano: one(span, 8).readBigUInt64LE(),
    attributes: attributesOf(span, 9),
    doubles: all(span, 9).flatMap((bytes) => {
      const pair = fields(bytes);
      return fields(one(pair, 2))[0]?.[0] === 4 ? [one(pair, 1).toString("utf8")] : [];
    }),
    status: count(fields(one(span, 15)), 3),
    resource,
  };
}

/** The spans of an `ExportTraceServiceRequest`. */
function readExport(bytes: Buffer): ReceivedSpan[] {
  return all(fields(bytes), 1).flatMap((resourceSpans) => {
    const parts = fields(resourceSpans);
    const resource = attributesOf(fields(one(parts, 1)), 1);
    return all(parts, 2).flatMap((scopeSpans) =>
      all(fields(scopeSpans), 2).map((span) => spanOf(span, resource)),
    );
  });
}

/** Starts a collector on a free loopback port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: Collector["requests"] = [];
  let current = (response: ServerResponse): void => void response.writeHead(200).end();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      requests.push({ path: request.url!, headers: request.headers });
      spans.push(...readExport(Buffer.concat(chunks)));
      current(response);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    answer: (next) => void (current = next),
    close: () => endServer(server),
  };
}
