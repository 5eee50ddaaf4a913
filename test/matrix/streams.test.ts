/**
 * Every kind of stream event in the vendors' SDK types, and every member, between all protocols. The caller's SDK must read the
 * whole answer from the stream. A table lists members that change nothing, with reasons. STREAM-01, STREAM-03, STREAM-05,
 * CONV-701 to CONV-717; T1, T2, T4, T10 to T13, T18.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSse, type SseEvent } from "../../src/base/sse.ts";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";
import { isLong } from "../support/long.ts";
import { wire, type Wire } from "../transcripts/readers/index.ts";
import { lostIn, lostOfAnswers } from "./lost.ts";
import { lostOfStreams, streamsOnly, wholePlaceOf } from "./lost-streams.ts";
import { joinChunks, readBySdk } from "./sdk-streams.ts";
import { differences, convertedEvents, streamingRoute } from "./passing.ts";
import { onePieces, streamCases } from "./streams.ts";

/** The whole answer of an upstream's stream, as its own SDK reads it. Undefined if the SDK does not accept the stream. */
async function wholeOf(
  upstream: ProtocolName,
  events: readonly SseEvent[],
): Promise<Wire | undefined> {
  const bodies = events.map(({ data }) => wire(JSON.parse(data)));
  if (upstream === "responses") return wire(bodies.at(-1)!["response"]);
  if (upstream === "generate_content") return joinChunks(bodies);
  const text = events.map(formatSse).join("");
  return readBySdk(upstream, text).then(
    (whole) => wire(JSON.parse(JSON.stringify(whole))),
    () => undefined,
  );
}

/** A sample of the cases in the short form, by the seed of all property tests. */
const some = <Item>(cases: readonly Item[], count: number): readonly Item[] =>
  isLong || cases.length <= count
    ? cases
    : fc.sample(fc.shuffledSubarray([...cases], { minLength: count, maxLength: count }), 1)[0]!;

describe.each(protocolNames)("the events of a stream of %s", (upstream) => {
  const cases = streamCases(upstream);
  const comparedCases = cases.filter(({ place }) => !streamsOnly.test(place));
  const isLostInStreams = lostIn(lostOfStreams[upstream]);
  const isLost = lostIn(lostOfAnswers[upstream]);

  it.each(protocolNames)(
    "STREAM-03 STREAM-05: give the same as the whole answer (%s)",
    async (caller) => {
      const different: unknown[] = [];
      let compared = 0;
      for (const { place, with: events } of some(comparedCases, 16)) {
        const whole = await wholeOf(upstream, events);
        if (!whole) continue;
        compared += 1;
        different.push(...(await differences({ caller, upstream, place, whole, events })));
      }
      expect(different).toEqual([]);
      expect(compared).toBeGreaterThan(8);
    },
  );

  it.each(protocolNames)("STREAM-03: give the same in one piece (%s)", async (caller) => {
    const different: unknown[] = [];
    for (const one of some(onePieces(upstream), 6))
      different.push(...(await differences({ caller, upstream, ...one })));
    expect(different).toEqual([]);
  });

  const callers = protocolNames.filter((name) => name !== upstream);
  it.each(callers)("reach the caller, or stand in a table of losses (%s)", (caller) => {
    const route = streamingRoute(caller, upstream);
    const lostCases = some(cases, 150).filter(({ place, ...one }) => {
      const whole = wholePlaceOf(upstream, place);
      if (isLostInStreams(place, caller) || (whole !== undefined && isLost(whole, caller)))
        return false;
      return convertedEvents(route, one.with) === convertedEvents(route, one.without);
    });
    const places = lostCases.map(({ place, value }) => `${place}: ${JSON.stringify(value)}`);
    expect([...new Set(places)]).toEqual([]);
  });

  it.runIf(isLong)("stand in the table of losses only if they change nothing", () => {
    const lostCases = callers.flatMap((caller) => {
      const route = streamingRoute(caller, upstream);
      return cases.filter(
        (one) => convertedEvents(route, one.with) === convertedEvents(route, one.without),
      );
    });
    const idle = lostOfStreams[upstream].filter(
      ([, places]) => !lostCases.some(({ place }) => places.test(place)),
    );
    expect(idle.map(([why]) => why)).toEqual([]);
  });
});
