/**
 * Every kind of event that the vendors' SDKs know of a stream, and every member of it, from each protocol to callers of each: the caller's own
 * SDK makes of the stream what it is given whole. What changes nothing stands in a table with the reason. STREAM-01, STREAM-03, STREAM-05,
 * CONV-701 to CONV-717; T1, T2, T4, T10 to T13, T18.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import { protocolNames, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { requestWith } from "../conversion/tool-wire.ts";
import { isLong } from "../support/long.ts";
import { framesOf, readers, wire, type Wire } from "../transcripts/readers/index.ts";
import { lostIn, lostOfAnswers } from "./lost.ts";
import { lostOfStreams, streamsOnly, wholePlaceOf } from "./lost-streams.ts";
import { comparable, joinChunks, readBySdk } from "./sdk-streams.ts";
import { onePieces, streamCases, type OnePiece } from "./streams.ts";

/** A streamed call of a caller, at an upstream. */
const streamingRoute = (caller: ProtocolName, upstream: ProtocolName) => {
  const asked = requestWith[caller]("look");
  const usage = caller === "chat" ? { stream_options: { include_usage: true } } : {};
  const body = caller === "generate_content" ? asked : { ...asked, stream: true, ...usage };
  return routeOf(caller, upstream, body, { stream: true });
};
type StreamingRoute = ReturnType<typeof streamingRoute>;

/** What a caller gets of a stream; undefined where it failed. */
function passed(route: StreamingRoute, events: readonly SseEvent[]): string | undefined {
  const tap = route.tap();
  const frames = events.flatMap((event) => tap.push(event));
  frames.push(...(tap.end?.() ?? []));
  if (tap.seen.error) return undefined;
  return [...frames, ...tap.release(noUsage)].map(formatSse).join("");
}

/** The same, what it is charged by, and how it failed. */
function given(route: StreamingRoute, events: readonly SseEvent[]): string {
  const tap = route.tap();
  for (const event of events) tap.push(event);
  tap.end?.();
  return `${passed(route, events)} ${JSON.stringify([tap.seen.usage, tap.seen.error])}`;
}

/** The whole answer that an upstream's stream is, as its own SDK has it; undefined where that does not take it. */
async function wholeOf(
  upstream: ProtocolName,
  events: readonly SseEvent[],
): Promise<Wire | undefined> {
  const bodies = events.map(({ data }) => wire(JSON.parse(data)));
  if (upstream === "responses") return wire(bodies.at(-1)!["response"]);
  if (upstream === "generate_content") return joinChunks(bodies);
  const text = events.map(formatSse).join("");
  return readBySdk[upstream](text).then(
    (whole) => wire(JSON.parse(JSON.stringify(whole))),
    () => undefined,
  );
}

/** What a caller is given of a whole answer; undefined where it failed. */
async function givenWhole(
  route: StreamingRoute,
  caller: ProtocolName,
  said: Wire,
): Promise<unknown> {
  const whole = structuredClone(said) as JsonObject;
  if (route.failure(whole)) return undefined;
  const answer = route.answer(whole, [], route.usage(whole) ?? noUsage);
  // Google's SDK leaves members out that it does not know.
  const isRead = caller === "generate_content";
  return comparable(
    isRead ? await readBySdk[caller](formatSse({ data: JSON.stringify(answer) })) : answer,
  );
}

interface Told extends OnePiece {
  readonly caller: ProtocolName;
  readonly upstream: ProtocolName;
}

/** How a stream differs for a caller from the whole answer that it is. */
async function differences({ caller, upstream, place, whole, events }: Told): Promise<object[]> {
  const route = streamingRoute(caller, upstream);
  const given = await givenWhole(route, caller, whole);
  const text = passed(route, events);
  const read = text === undefined ? undefined : await readBySdk[caller](text).catch(String);
  const faults =
    caller === upstream || text === undefined ? [] : readers[caller].stream(framesOf(text)).faults;
  const parting = difference(textOf(comparable(read)), textOf(given));
  return parting || faults.length > 0 ? [{ place, faults, ...parting }] : [];
}

/** Where two answers part. */
function difference(streamed: string, given: string): object | undefined {
  if (streamed === given) return undefined;
  let at = 0;
  while (streamed[at] === given[at]) at += 1;
  const near = (answer: string): string => answer.slice(Math.max(0, at - 80), at + 160);
  return { streamed: near(streamed), given: near(given) };
}

/** As JSON, its members in one order. */
const textOf = (value: unknown): string => JSON.stringify(sorted(value)) ?? "failed";

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

/** In the short form some, by the seed of all property tests. */
const some = <Item>(cases: readonly Item[], count: number): readonly Item[] =>
  isLong || cases.length <= count
    ? cases
    : fc.sample(fc.shuffledSubarray([...cases], { minLength: count, maxLength: count }), 1)[0]!;

describe.each(protocolNames)("what a stream of %s may say", (upstream) => {
  const cases = streamCases(upstream);
  const told = cases.filter(({ place }) => !streamsOnly.test(place));
  const isWordless = lostIn(lostOfStreams[upstream]);
  const isLost = lostIn(lostOfAnswers[upstream]);

  it.each(protocolNames)("is what the same answer is whole (%s)", async (caller) => {
    const different: unknown[] = [];
    let compared = 0;
    for (const { place, with: events } of some(told, 50)) {
      const whole = await wholeOf(upstream, events);
      if (!whole) continue;
      compared += 1;
      different.push(...(await differences({ caller, upstream, place, whole, events })));
    }
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(35);
  });

  it.each(protocolNames)("is the same in one piece (%s)", async (caller) => {
    const different: unknown[] = [];
    for (const one of some(onePieces(upstream), 20))
      different.push(...(await differences({ caller, upstream, ...one })));
    expect(different).toEqual([]);
  });

  const callers = protocolNames.filter((name) => name !== upstream);
  it.each(callers)("reaches the caller, or stands in a table (%s)", (caller) => {
    const route = streamingRoute(caller, upstream);
    const gone = some(cases, 400).filter(({ place, ...one }) => {
      const whole = wholePlaceOf(upstream, place);
      if (isWordless(place, caller) || (whole !== undefined && isLost(whole, caller))) return false;
      return given(route, one.with) === given(route, one.without);
    });
    const places = gone.map(({ place, value }) => `${place}: ${JSON.stringify(value)}`);
    expect([...new Set(places)]).toEqual([]);
  });

  it.runIf(isLong)("is in the table only where it changes nothing", () => {
    const gone = callers.flatMap((caller) => {
      const route = streamingRoute(caller, upstream);
      return cases.filter((one) => given(route, one.with) === given(route, one.without));
    });
    const idle = lostOfStreams[upstream].filter(
      ([, places]) => !gone.some(({ place }) => places.test(place)),
    );
    expect(idle.map(([why]) => why)).toEqual([]);
  });
});
