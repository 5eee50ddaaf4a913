/**
 * Random answers with everything in the vendors' SDK types, streamed in pieces that are cut and mixed anywhere, between all
 * protocols. The caller's SDK must read the same content, order, finish reason and counts from the stream as from the whole answer.
 * STREAM-01, STREAM-03, STREAM-05, CONV-701 to CONV-717; T2, T4 to T7, T9, T17, T18.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { protocolNames } from "../../src/protocols/index.ts";
import { shortOrLong } from "../support/long.ts";
import { differences } from "./passing.ts";
import { someStream } from "./random-streams.ts";

/** The parsed events of a stream whose bytes are cut at these places. */
function received(events: readonly SseEvent[], cuts: readonly number[]): SseEvent[] {
  const bytes = Buffer.from(events.map(formatSse).join(""));
  const parser = createSseParser();
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted((a, b) => a - b);
  const pieces = [0, ...places].map((at, index) => bytes.subarray(at, places[index]));
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const cuts = fc.array(fc.nat(1_000_000), { maxLength: 12 });

describe.each(protocolNames)("random streams of %s", (upstream) => {
  it.each(protocolNames)(
    "STREAM-03 STREAM-05 T5 T17: give the same as the whole answer (%s)",
    async (caller) => {
      await fc.assert(
        fc.asyncProperty(
          someStream(upstream, caller === upstream),
          cuts,
          async ({ whole, events }, at) => {
            const streamCase = {
              caller,
              upstream,
              place: "anywhere",
              whole,
              events: received(events, at),
            };
            expect(await differences(streamCase)).toEqual([]);
          },
        ),
        { numRuns: shortOrLong(3, 400) },
      );
    },
  );
});
