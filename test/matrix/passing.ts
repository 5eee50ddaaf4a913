/** Converts a stream from an upstream for a caller, and compares it with the whole answer. */
import { formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject, ProtocolName, StreamSeen } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { requestWith } from "../conversion/tool-wire.ts";
import { framesOf, readers, type Wire } from "../transcripts/readers/index.ts";
import { comparable, readBySdk } from "./sdk-streams.ts";

/** The route of a streaming call from a caller to an upstream. */
export const streamingRoute = (caller: ProtocolName, upstream: ProtocolName) => {
  const asked = requestWith[caller]("look");
  const usage = caller === "chat" ? { stream_options: { include_usage: true } } : {};
  const body = caller === "generate_content" ? asked : { ...asked, stream: true, ...usage };
  return routeOf(caller, upstream, body, { stream: true });
};
export type StreamingRoute = ReturnType<typeof streamingRoute>;

/** The result of a stream for its caller. */
interface StreamResult {
  /** The text that the caller gets. Undefined if the stream failed. */
  readonly text: string | undefined;
  /** The usage for the charge, and the error. */
  readonly seen: Pick<StreamSeen, "usage" | "error">;
}

function streamResultOf(route: StreamingRoute, events: readonly SseEvent[]): StreamResult {
  const tap = route.tap();
  const frames = events.flatMap((event) => tap.push(event));
  frames.push(...(tap.end?.() ?? []));
  const { usage, error } = tap.seen;
  const text = error ? undefined : [...frames, ...tap.release(noUsage)].map(formatSse).join("");
  return { text, seen: { usage, error } };
}

/** Text, usage and error of a stream as one text, for comparison. */
export function convertedEvents(route: StreamingRoute, events: readonly SseEvent[]): string {
  const { text, seen } = streamResultOf(route, events);
  return `${text} ${JSON.stringify([seen.usage, seen.error])}`;
}

/** The caller's form of a whole answer. Undefined if the answer is a failure. */
async function convertedWhole(
  route: StreamingRoute,
  caller: ProtocolName,
  answer: Wire,
): Promise<unknown> {
  const whole = structuredClone(answer) as JsonObject;
  if (route.failure(whole)) return undefined;
  const converted = route.answer(whole, [], route.usage(whole) ?? noUsage);
  // Google's SDK omits members that it does not know, so the whole answer must pass through it too.
  const isRead = caller === "generate_content";
  return comparable(
    isRead ? await readBySdk(caller, formatSse({ data: JSON.stringify(converted) })) : converted,
  );
}

interface StreamCase {
  readonly place: string;
  readonly whole: Wire;
  readonly events: readonly SseEvent[];
  readonly caller: ProtocolName;
  readonly upstream: ProtocolName;
}

/** The differences for a caller between a stream and its whole answer. */
export async function differences({
  caller,
  upstream,
  place,
  whole,
  events,
}: StreamCase): Promise<object[]> {
  const route = streamingRoute(caller, upstream);
  const expected = await convertedWhole(route, caller, whole);
  const { text, seen } = streamResultOf(route, events);
  const read = text === undefined ? undefined : await readBySdk(caller, text).catch(String);
  const faults =
    caller === upstream || text === undefined ? [] : readers[caller].stream(framesOf(text)).faults;
  const firstDifference =
    difference(textOf(comparable(read)), textOf(expected)) ??
    difference(textOf(seen.error ? undefined : seen.usage), textOf(usedWhole(route, whole)));
  return firstDifference || faults.length > 0 ? [{ place, faults, ...firstDifference }] : [];
}

/** The usage by which a whole answer is charged. Undefined if it is a failure. */
function usedWhole(route: StreamingRoute, answer: Wire): unknown {
  const whole = structuredClone(answer) as JsonObject;
  return route.failure(whole) ? undefined : route.usage(whole);
}

/** The first difference between two answers. Undefined if they are equal. */
export function difference(streamed: string, whole: string): object | undefined {
  if (streamed === whole) return undefined;
  let at = 0;
  while (streamed[at] === whole[at]) at += 1;
  const near = (answer: string): string => answer.slice(Math.max(0, at - 80), at + 160);
  return { streamed: near(streamed), whole: near(whole) };
}

/** JSON with sorted members. */
export const textOf = (value: unknown): string => JSON.stringify(sorted(value)) ?? "failed";

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)));
};
