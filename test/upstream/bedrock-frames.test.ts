/** Bedrock's binary frames as events, with JSON in any spelling and the bytes cut anywhere. T17. */
import { EventStreamCodec } from "@smithy/eventstream-codec";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import type { BodyConsumer, Exchange } from "../../src/upstream/exchange.ts";
import { packetsAsEvents, streamType } from "../../src/upstream/vendors/bedrock-stream.ts";

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);

/** A binary frame of AWS with a JSON body. */
const packet = (type: string, body: string): Buffer =>
  Buffer.from(
    codec.encode({
      headers: {
        ":message-type": { type: "string", value: "event" },
        ":event-type": { type: "string", value: type },
      },
      body: Buffer.from(body),
    }),
  );

/** The events of a stream that arrives in these pieces, and its failure if it has one. */
async function eventsOf(pieces: readonly Buffer[]): Promise<SseEvent[]> {
  const parser = createSseParser();
  const events: SseEvent[] = [];
  const taker: BodyConsumer = {
    data: (chunk) => void events.push(...parser.push(chunk)),
    end: () => void events.push(...parser.end()),
    fail(error) {
      throw error;
    },
  };
  const exchange: Exchange = {
    status: 200,
    headers: { "content-type": streamType },
    consume(consumer) {
      for (const piece of pieces) consumer.data(piece);
      consumer.end();
    },
    readAll: () => Promise.reject(new Error("not read as a whole")),
    pause: () => undefined,
    resume: () => undefined,
    abort: () => undefined,
  };
  (await packetsAsEvents(exchange)).consume(taker);
  return events;
}

interface Sent {
  readonly type: string;
  readonly value: object;
  /** The JSON text of the value. */
  readonly json: string;
  /** True if the frame holds the event in base64, as for Claude; otherwise it is the event. */
  readonly isInner: boolean;
}

const someText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("\n", "\r\n", "data: x", "\u2028", "\ud800", "\0", '"'),
);
const some: fc.Arbitrary<Sent> = fc
  .record({
    type: fc.constantFrom("message_start", "content_block_delta", "ping"),
    said: fc.dictionary(someText, someText, { maxKeys: 3 }),
    indent: fc.constantFrom("", "\t", "  "),
    end: fc.constantFrom("\n", "\r\n", "\r"),
    isInner: fc.boolean(),
  })
  .map(({ type, said, indent, end, isInner }) => {
    const value = { type, ...said };
    return {
      type,
      value,
      json: JSON.stringify(value, null, indent).replaceAll("\n", end),
      isInner,
    };
  });

const bytesOf = ({ type, json, isInner }: Sent): Buffer =>
  isInner
    ? packet("chunk", JSON.stringify({ bytes: Buffer.from(json).toString("base64"), p: "abc" }))
    : packet(type, json);

it("T17: binary frames give the same events at any cuts, however their JSON is written", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(some, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat()),
      async (all, cuts) => {
        const bytes = Buffer.concat(all.map(bytesOf));
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].toSorted(
          (a, b) => a - b,
        );
        const pieces = [0, ...places].map((at, index) => bytes.subarray(at, places[index]));
        const events = await eventsOf(pieces);
        expect(events.map(({ event, data }) => [event, JSON.parse(data)])).toEqual(
          all.map(({ type, value }) => [type, value]),
        );
      },
    ),
    { numRuns: 200 },
  );
});
