// One transcript in one direction: the caller's request to the upstream, and the upstream's answer back.
import { GatewayError } from "../../src/base/errors.ts";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type Route,
  type StreamTap,
} from "../../src/protocols/index.ts";
import { framesOf, isWire, type Frame } from "./readers/index.ts";
import { estimate, type Direction, type Transcript, type Upstream } from "./transcript.ts";

/** The upstream's model name, which callers must not see. */
export const upstreamModel = "vendor-model-2026";
const model = "acme/talk";
const modelLimit = 8000;

interface RouteOptions {
  readonly stream?: boolean;
  /** Convert even where caller and upstream speak the same protocol. */
  readonly force?: boolean;
}

/** The route of the transcript's request. */
export function routeOf(
  transcript: Transcript,
  { caller, upstream }: { readonly caller: Direction["caller"]; readonly upstream: Upstream },
  { stream = false, force = false }: RouteOptions = {},
): Route {
  return createRoute(
    {
      caller: codecs[caller],
      upstream: upstreamCodecs[upstream],
      body: requestBody(transcript, caller, stream),
      stream,
      requestedModel: model,
      model,
      upstreamModel,
      maxOutputTokens: modelLimit,
      inputEstimate: estimate.input,
      id: "01abc",
      createdAt: 1_790_000_000,
    },
    force,
  );
}

/** The caller's body, with `stream` except for generateContent. */
function requestBody(
  { exchanges }: Transcript,
  caller: Direction["caller"],
  stream: boolean,
): JsonObject {
  const body = structuredClone(exchanges[caller].request);
  if (!stream || caller === "generate_content") return body;
  if (caller === "chat") body["stream_options"] = { include_usage: true };
  return { ...body, stream: true };
}

/** The billed usage of a call without usage. */
export const billed = { ...noUsage, inputTokens: estimate.input, outputTokens: estimate.output };

/** The events of a raw stream that arrives in pieces of `size` bytes. */
export function eventsOf(bytes: Uint8Array, size: number = bytes.length): SseEvent[] {
  const parser = createSseParser();
  const events: SseEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    events.push(...parser.push(bytes.subarray(at, at + size)));
  }
  return [...events, ...parser.end()];
}

/** The caller's frames of a stream whose upstream closed after these events, written as bytes and read again. */
export function relayed(tap: StreamTap, events: readonly SseEvent[]): Frame[] {
  const sent: SseEvent[] = [];
  for (const event of events) {
    sent.push(...tap.push(event));
    // Events after an upstream's error are ignored.
    if (tap.seen.error) break;
  }
  sent.push(...(tap.end?.() ?? []));
  const isWhole = tap.seen.ended && !tap.seen.error;
  const broken = new GatewayError("upstream_error", tap.seen.error?.message ?? "It broke off.");
  sent.push(...(isWhole ? tap.release(tap.seen.usage ?? billed) : tap.fail(broken)));
  return framesOf(sent.map(formatSse).join(""));
}

/** The code of the thrown error. Undefined if none is thrown. */
export function thrownBy(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

/** The value without reasoning signatures. */
export function unsigned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unsigned).filter((one) => !isLoneThought(one));
  if (!isWire(value)) return value;
  const members = Object.entries(value).filter(([key]) => key !== "signature");
  return Object.fromEntries(members.map(([key, member]) => [key, unsigned(member)]));
}

/** True for a thought that only had a signature. */
const isLoneThought = (said: unknown): boolean =>
  isWire(said) && said["thinks"] === "" && Object.keys(said).length === 1;

/** The value, with non-empty texts replaced by "any" where the expectation is "any". */
export function withAny(actual: unknown, expected: unknown): unknown {
  if (expected === "any") return typeof actual === "string" && actual !== "" ? "any" : actual;
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, index) => withAny(item, expected[index]));
  }
  if (!isWire(actual) || !isWire(expected)) return actual;
  return Object.fromEntries(
    Object.entries(actual).map(([key, value]) => [key, withAny(value, expected[key])]),
  );
}

/** The events of a stream that arrives in two pieces, cut at a byte offset. */
export function cutAt(bytes: Uint8Array, at: number): SseEvent[] {
  const parser = createSseParser();
  return [
    ...parser.push(bytes.subarray(0, at)),
    ...parser.push(bytes.subarray(at)),
    ...parser.end(),
  ];
}

/** The events of a stream that ends after each frame, and in the middle of each. */
export function beginningsOf(bytes: Uint8Array): SseEvent[][] {
  const whole = eventsOf(bytes);
  const beginnings = whole.map((_, count) => whole.slice(0, count));
  const last = whole.at(-1)!;
  const torn = whole.map((event, count) => {
    const half = event.data.slice(0, Math.floor(event.data.length / 2));
    return [...whole.slice(0, count), { ...event, data: half }];
  });
  return last.data === "" ? beginnings : [...beginnings, ...torn];
}

/** True if a direct stream ends with an error exactly when it is incomplete. */
export function reportsBreak(tap: StreamTap, frames: readonly Frame[]): boolean {
  const isWhole = tap.seen.ended && !tap.seen.error;
  const last = frames.at(-1)?.data === "[DONE]" ? frames.at(-2) : frames.at(-1);
  return /"error":\s*\{/.test(last?.data ?? "") !== isWhole;
}
