/**
 * Answers of vendors that lie: a whole answer and a stream of each protocol, edited at random, converted for callers of every
 * protocol. The result is an answer or the vendor's error. It is never a fault of the gateway, and never a count that cannot be
 * billed.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import { noUsage, type Usage } from "../../src/base/usage.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  type JsonObject,
  type ProtocolName,
  type Route,
} from "../../src/protocols/index.ts";
import { citedAnswers, citedStreams } from "../conversion/cited.ts";
import { answerCalling, requestWith, streamCalling } from "../conversion/tool-wire.ts";
import { shortOrLong } from "../support/long.ts";
import { byName } from "../conversion/world.ts";
import { mutated } from "./mutations.ts";

const numRuns = shortOrLong(60, 2_000);

const routeOf = (caller: ProtocolName, upstream: ProtocolName, stream: boolean): Route =>
  createRoute({
    caller: codecs[caller],
    upstream: codecs[upstream],
    body: { ...requestWith[caller]("look"), ...(caller === "generate_content" ? {} : { stream }) },
    stream,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "talk-large",
    maxOutputTokens: 1000,
    inputEstimate: 7,
    id: "req_1",
    createdAt: 1,
  });

/** The result of a step; undefined if the gateway refuses the vendor's answer. @throws any other error */
function unlessRefused<Value>(step: () => Value): Value | undefined {
  try {
    return step();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function expectBillable(usage: Usage | undefined): void {
  if (!usage) return;
  for (const count of Object.values(usage))
    expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
  expect(usage.cacheReadTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens);
  expect(usage.cacheWrite1hTokens).toBeLessThanOrEqual(usage.cacheWriteTokens);
  expect(usage.reasoningTokens).toBeLessThanOrEqual(usage.outputTokens);
}

/** The parsed data of a stream's frames. */
function dataOf(stream: string): unknown[] {
  const parser = createSseParser();
  return [...parser.push(Buffer.from(stream)), ...parser.end()].flatMap(({ data }) =>
    data === "[DONE]" ? [] : [JSON.parse(data) as unknown],
  );
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True if a converted stream may begin with this frame. */
const begins: Readonly<Record<ProtocolName, (frame: SseEvent) => boolean>> = {
  chat: ({ data }) => data.includes('"role":"assistant"'),
  responses: ({ event }) => event === "response.created",
  messages: ({ event }) => event === "message_start",
  generate_content: ({ event }) => event === undefined,
};

const pairs = protocolNames.flatMap((upstream) =>
  protocolNames.map((caller) => [upstream, caller] as const),
);

describe.each(pairs)("edited answers of %s upstreams for callers of %s", (upstream, caller) => {
  it("an edited whole answer becomes an answer or the vendor's error, with usage that can be billed", () => {
    const seeds = [
      answerCalling[upstream]("look"),
      byName[upstream].whole() as object,
      citedAnswers[upstream],
    ];
    fc.assert(
      fc.property(mutated(seeds), (answer) => {
        if (!isObject(answer)) return;
        const route = routeOf(caller, upstream, false);
        if (route.failure(structuredClone(answer))) return;
        expectBillable(route.usage(answer));
        expect(typeof route.text(answer)).toBe("string");
        unlessRefused(() => route.framesOf(structuredClone(answer), noUsage));
        unlessRefused(() => route.answer(structuredClone(answer), [], noUsage));
      }),
      { numRuns },
    );
  });

  it("an edited stream gets exactly one end, whole or failed, and starts with its protocol's first frame", () => {
    const texts = [streamCalling[upstream]("look"), byName[upstream].frames.join("")];
    const streams = [...texts.map(dataOf), citedStreams[upstream]];
    // Streams without their first frame are common.
    const seeds = streams.flatMap((frames) => [{ frames }, { frames: frames.slice(1) }]);
    fc.assert(
      fc.property(mutated(seeds), (edited) => {
        const frames = isObject(edited) && Array.isArray(edited["frames"]) ? edited["frames"] : [];
        const tap = routeOf(caller, upstream, true).tap();
        const sent = frames.flatMap((frame) => {
          const type = isObject(frame) ? frame["type"] : undefined;
          const event = typeof type === "string" ? { event: type } : {};
          return tap.seen.error ? [] : tap.push({ ...event, data: JSON.stringify(frame) });
        });
        if (!tap.seen.error) sent.push(...(tap.end?.() ?? []));
        expectBillable(tap.seen.usage);
        const { ended, error } = tap.seen;
        const last =
          ended && !error
            ? tap.release(noUsage)
            : tap.fail(new GatewayError("upstream_error", "It broke."));
        expect(last.length).toBeGreaterThan(0);
        const [first] = sent;
        expect(caller === upstream || !first || begins[caller](first)).toBe(true);
      }),
      { numRuns },
    );
  });
});
