/**
 * Oddities that vendors are known to send in streams: other line ends, comments, unknown fields and events, ends and counts sent
 * twice or not at all. Callers get the same as from the plain stream, and are charged by the same counts.
 * STREAM-03 to STREAM-05; T1, T2, T4, T16, T17, T49.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { protocolNames, type ProtocolName } from "../../src/protocols/index.ts";
import { shortOrLong } from "../support/long.ts";
import { isWire, items, wire, type Wire } from "../transcripts/readers/index.ts";
import { differences } from "./passing.ts";
import { someStream } from "./random-streams.ts";

type Events = readonly SseEvent[];

/** The text of a stream, with `each` applied to each frame. */
const written = (events: Events, each: (frame: string) => string = (frame) => frame): string =>
  events.map((event) => each(formatSse(event))).join("");

/** The event with its JSON over several lines, which SSE writes as several data lines. */
const spread = ({ data, ...event }: SseEvent): SseEvent => ({
  ...event,
  data: JSON.stringify(JSON.parse(data), null, 1),
});

/** Oddities of the bytes, independent of the content. */
const byteOddities: Readonly<Record<string, (events: Events) => string>> = {
  "lines that end in CR and LF": (events) => written(events).replaceAll("\n", "\r\n"),
  "lines that end in CR": (events) => written(events).replaceAll("\n", "\r"),
  "a byte order mark": (events) => `\uFEFF${written(events)}`,
  comments: (events) => written(events, (frame) => `: keep-alive\n\n:\n${frame}`),
  "ids and times to try again": (events) =>
    written(events, (frame) => `id: 7\nretry: 1000\nother: x\n${frame}`),
  "no space behind the colon": (events) =>
    written(events, (frame) => frame.replace("data: ", "data:").replace("event: ", "event:")),
  "data over several lines": (events) => written(events.map(spread)),
  "frames of nothing": (events) => written(events, (frame) => `data:\n\nevent: ping\n\n${frame}`),
  "no blank line at the end": (events) => written(events).trimEnd(),
};

const bodyOf = ({ data }: SseEvent): Wire => wire(JSON.parse(data));
const withBody = (event: SseEvent, body: Wire): SseEvent => ({
  ...event,
  data: JSON.stringify(body),
});
const isNamed = (event: SseEvent, ...names: string[]): boolean =>
  names.includes(String(bodyOf(event)["type"]));

type Oddities = Readonly<Record<string, (events: Events) => Events>>;

/** Inserts events after each event but the last. */
const between =
  (...odd: SseEvent[]) =>
  (events: Events): Events =>
    events.flatMap((event, at) => (at + 1 < events.length ? [event, ...odd] : [event]));
const data = (body: unknown): SseEvent => ({ data: JSON.stringify(body) });
const named = (body: Wire): SseEvent => ({ event: String(body["type"]), ...data(body) });

const chatDelta = (delta: Wire): SseEvent =>
  data({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta }] });
const countsOf = (event: SseEvent): Wire | undefined => {
  const { usage, usageMetadata } = bodyOf(event);
  const counts = usage ?? usageMetadata;
  return isWire(counts) ? counts : undefined;
};
const hasReason = (event: SseEvent): boolean => {
  const { choices, candidates } = bodyOf(event);
  const [one = {}] = [...items(choices), ...items(candidates)];
  return typeof (one["finish_reason"] ?? one["finishReason"]) === "string";
};

/** The event's finish reason and counts without content, because one event may hold both. */
function withoutWords(event: SseEvent): SseEvent {
  const { choices, candidates, ...body } = bodyOf(event);
  const chosen = items(choices).map((one) => ({ ...one, delta: {} }));
  const ended = items(candidates).map(({ finishReason, index }) => ({ finishReason, index }));
  return withBody(event, { ...body, ...(choices ? { choices: chosen } : { candidates: ended }) });
}

/** Oddities of the content. */
const oddities: Readonly<Record<ProtocolName, Oddities>> = {
  chat: {
    "deltas of nothing": between(
      chatDelta({}),
      chatDelta({ content: "", tool_calls: [] }),
      chatDelta({ content: null, role: "assistant" }),
    ),
    "chunks without choices": between(data({ id: "chatcmpl-1", choices: [] })),
    "unknown objects": between(data({ object: "vendor.note", note: "x" })),
    "its finish reason twice": (events) =>
      events.flatMap((event) => (hasReason(event) ? [event, withoutWords(event)] : [event])),
    "its counts twice": (events) =>
      events.flatMap((event) => (countsOf(event) ? [event, withoutWords(event)] : [event])),
    "its counts with its finish reason": (events) => {
      const usage = events.map(countsOf).find(Boolean);
      return events
        .filter((event) => hasReason(event) || !countsOf(event))
        .map((event) => (hasReason(event) ? withBody(event, { ...bodyOf(event), usage }) : event));
    },
    "an end marker": (events) => [...events, { data: "[DONE]" }],
  },
  responses: {
    "keep-alives": between(named({ type: "keepalive" })),
    "events that nobody knows": between(named({ type: "response.vendor.note", note: "x" })),
    "its end twice": (events) => [...events, events.at(-1)!],
    "no names of events": (events) => events.map(({ data }) => ({ data })),
    "an end marker": (events) => [...events, { data: "[DONE]" }],
  },
  messages: {
    pings: between(named({ type: "ping" })),
    "events that nobody knows": between(named({ type: "vendor_note", note: "x" })),
    "deltas of nothing": (events) =>
      events.flatMap((event) => {
        const { type, index } = bodyOf(event);
        if (type !== "content_block_start") return [event];
        const { content_block: block } = bodyOf(event);
        const { type: kind } = wire(block);
        const empty = {
          text: { type: "text_delta", text: "" },
          thinking: { type: "thinking_delta", thinking: "" },
          tool_use: { type: "input_json_delta", partial_json: "" },
        }[String(kind)];
        const delta = named({ type: "content_block_delta", index, delta: empty });
        return empty ? [event, delta] : [event];
      }),
    "its start twice": (events) =>
      events.flatMap((event) => (isNamed(event, "message_start") ? [event, event] : [event])),
    "its end in two": (events) =>
      events.flatMap((event) => {
        const { usage, ...body } = bodyOf(event);
        if (body["type"] !== "message_delta") return [event];
        const { delta } = body;
        return [
          withBody(event, { ...body, usage: { output_tokens: 1 } }),
          withBody(event, { ...body, delta, usage }),
        ];
      }),
    "no last event": (events) => events.filter((event) => !isNamed(event, "message_stop")),
    "no names of events": (events) => events.map(({ data }) => ({ data })),
    "an end marker": (events) => [...events, { data: "[DONE]" }],
  },
  generate_content: {
    "parts of nothing": between(
      data({
        responseId: "r1",
        candidates: [{ content: { role: "model", parts: [{ text: "" }] } }],
      }),
      data({ responseId: "r1", candidates: [{ index: 0 }] }),
    ),
    "chunks without candidates": between(data({ responseId: "r1" })),
    "its end twice": (events) => [...events, withoutWords(events.at(-1)!)],
    "its counts with each chunk": (events) => {
      const usageMetadata = events.map(countsOf).find(Boolean);
      return events.map((event) => withBody(event, { ...bodyOf(event), usageMetadata }));
    },
    "an end marker": (events) => [...events, { data: "[DONE]" }],
  },
};

/** One caller per oddity in the short form, all in the long form. */
const some = (callers: readonly ProtocolName[], oddity: string): readonly ProtocolName[] =>
  shortOrLong([callers[oddity.length % callers.length]!], callers);

/** The events as the gateway parses them. */
function received(text: string): SseEvent[] {
  const parser = createSseParser();
  return [...parser.push(Buffer.from(text)), ...parser.end()];
}

describe.each(protocolNames)("an odd stream of %s", (upstream) => {
  // Without the same protocol: its callers also get the vendor's additions, such as unknown events.
  const callers = protocolNames.filter((name) => name !== upstream);
  const expectSame = async (caller: ProtocolName, odd: (events: Events) => Events) => {
    await fc.assert(
      fc.asyncProperty(someStream(upstream, true), async ({ whole, events }) => {
        const streamCase = { caller, upstream, place: "", whole, events: odd(events) };
        expect(await differences(streamCase)).toEqual([]);
      }),
      { numRuns: shortOrLong(1, 40) },
    );
  };

  it.each(Object.entries(byteOddities))(
    "STREAM-03: gives the same as the whole answer with odd bytes: %s",
    async (name, odd) => {
      for (const caller of some(protocolNames, name))
        await expectSame(caller, (events) => received(odd(events)));
    },
  );

  it.each(Object.entries(oddities[upstream]))(
    "STREAM-03: gives the same as the whole answer with odd events: %s",
    async (name, odd) => {
      for (const caller of some(callers, name)) await expectSame(caller, odd);
    },
  );
});
