/** Streams of each upstream, as converted for each caller. STREAM-03 to STREAM-05, TXT-15; traps T14, T35, T37. */
import { describe, expect, it } from "vitest";
import type { SseEvent } from "../../src/base/sse.ts";
import { answerText, upstreamModel } from "../rows/protocols.ts";
import { json, sse } from "../support/recorder.ts";
import {
  byName,
  conversions,
  convertedPairs,
  dataOf,
  modelOf,
  names,
  toolsOf,
  type Body,
  type Name,
} from "./world.ts";

const world = conversions();

/** Errors in the event order of a messages stream. Empty if the order is as clients expect. */
function messagesFaults(events: readonly Body[]): string[] {
  const faults: string[] = [];
  let open: number | undefined;
  let next = 0;
  for (const { type, index } of events) {
    if (type === "content_block_start") {
      if (open !== undefined) faults.push(`block ${String(index)} begins within block ${open}`);
      if (index !== next) faults.push(`block ${String(index)} is not the next one`);
      open = index as number;
      next += 1;
    } else if (type === "content_block_delta" && index !== open) faults.push("a delta of no block");
    else if (type === "content_block_stop") {
      if (index !== open) faults.push(`block ${String(index)} ends and never began`);
      open = undefined;
    } else if (type === "message_delta" && open !== undefined)
      faults.push("it ends within a block");
  }
  return faults;
}

/** Errors in the event order of each protocol, on which its clients rely. */
const orderFaults: Readonly<
  Record<Name, (events: readonly SseEvent[], bodies: Body[]) => unknown[]>
> = {
  messages: (events, bodies) => [
    ...messagesFaults(bodies),
    ...(bodies[0]!["type"] === "message_start" ? [] : ["it does not begin with message_start"]),
    ...events.filter(({ event }, index) => event !== bodies[index]!["type"]),
  ],
  responses: (_events, bodies) => [
    ...bodies.filter((body, index) => body["sequence_number"] !== index),
    ...(bodies[0]!["type"] === "response.created" ? [] : ["it does not begin with its creation"]),
    ...(bodies.at(-1)!["type"] === "response.completed" ? [] : ["it does not end complete"]),
  ],
  chat: (_events, bodies) =>
    bodies.filter(
      ({ object, id }) => object !== "chat.completion.chunk" || id !== bodies[0]!["id"],
    ),
  // Clients of generateContent skip named frames.
  generate_content: (events) =>
    events.filter(({ event }) => event !== undefined && event !== "message"),
};

function expectOrder(from: Name, events: readonly SseEvent[]): void {
  expect(byName[from].endsNormally(events)).toBe(true);
  expect(orderFaults[from](events, dataOf(events))).toEqual([]);
}

describe("a converted stream", () => {
  it.each(convertedPairs)(
    "STREAM-03 TXT-05 TXT-06 T35 T37: has the caller's own event sequence: %s to %s",
    async (from, to) => {
      const { events, header, text } = await world.stream(from, to);
      expectOrder(from, events);
      expect(byName[from].textOfFrames(events)).toBe(answerText);
      expect(text).not.toContain(upstreamModel);
      expect(text).toContain(modelOf(to));
      expect(header).toBeNull();
    },
  );

  it.each(convertedPairs)(
    "T14: is made from a whole answer of the upstream: %s to %s",
    async (from, to) => {
      const { events } = await world.stream(from, to, {}, json(byName[to].whole()));
      expectOrder(from, events);
      expect(byName[from].textOfFrames(events)).toBe(answerText);
    },
  );

  it.each(convertedPairs.filter(([, to]) => to === "chat" || to === "responses"))(
    "STREAM-04: has its end marker if the upstream omitted its own: %s to %s",
    async (from, to) => {
      // Leave out the [DONE] marker. In responses, the terminal event remains.
      const frames = byName[to].frames.filter((frame) => !frame.includes("[DONE]"));
      const { events } = await world.stream(from, to, {}, sse(frames.join("")));
      expectOrder(from, events);
    },
  );

  it.each([
    ["chat", "messages", 1],
    ["responses", "messages", 1],
    ["generate_content", "messages", 1],
    ["messages", "generate_content", 0],
  ] as const)(
    "STREAM-04: is complete after the upstream's stop reason: %s to %s",
    async (from, to, left) => {
      const frames = byName[to].frames.slice(0, byName[to].frames.length - left);
      const { events } = await world.stream(from, to, {}, sse(frames.join("")));
      expectOrder(from, events);
    },
  );
});

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  data({
    id: "chatcmpl-7",
    object: "chat.completion.chunk",
    created: 1,
    model: upstreamModel,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
const piece = (index: number, id: string | undefined, args: string): object => ({
  tool_calls: [
    id === undefined
      ? { index, function: { arguments: args } }
      : { index, id, type: "function", function: { name: "look", arguments: args } },
  ],
});

/** Text, then two calls with interleaved pieces, as some vendors send them. */
const interleaved = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Let me " }),
  chunk({ content: "see.", tool_calls: [] }),
  chunk(piece(0, "call_a", "")),
  chunk(piece(0, undefined, '{"where":')),
  chunk(piece(1, "call_b", '{"where"')),
  chunk(piece(0, undefined, '"here"}')),
  chunk(piece(1, undefined, ':"there"}')),
  chunk({}, "tool_calls"),
  data({ id: "chatcmpl-7", choices: [], usage: { prompt_tokens: 9, completion_tokens: 5 } }),
  "data: [DONE]\n\n",
].join("");

describe("the blocks of a messages stream", () => {
  it("STREAM-05 T1 T6 T7 T8: do not interleave, even if the upstream's text and calls do", async () => {
    const { events } = await world.stream(
      "messages",
      "chat",
      { ...toolsOf.messages },
      sse(interleaved),
    );
    expectOrder("messages", events);
    const bodies = dataOf(events);
    const started = bodies.filter(({ type }) => type === "content_block_start");
    expect(started.map((body) => (body["content_block"] as Body)["type"])).toEqual([
      "text",
      "tool_use",
      "tool_use",
    ]);
    const inputs = started.slice(1).map(({ index }) =>
      bodies
        .filter((body) => body["type"] === "content_block_delta" && body["index"] === index)
        .map((body) => (body["delta"] as Body)["partial_json"])
        .join(""),
    );
    expect(inputs.map((input) => JSON.parse(input) as unknown)).toEqual([
      { where: "here" },
      { where: "there" },
    ]);
    expect(bodies.at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  it.each(names.filter((to) => to !== "messages"))(
    "STREAM-05: all end in a stream from %s",
    async (to) => {
      const { events } = await world.stream("messages", to);
      expect(messagesFaults(dataOf(events))).toEqual([]);
      expect(dataOf(events).filter(({ type }) => type === "content_block_stop")).not.toEqual([]);
    },
  );
});

describe("the report of dropped parameters", () => {
  it("TXT-14 TXT-15 TXT-16: is in the body of whole answers and in a header of streams, in the caller's order", async () => {
    const lost = { temperature: 1.6, seed: 7, reasoning_effort: "ultra", verbosity: "low" };
    const reported = ["temperature", "seed", "reasoning_effort", "verbosity"];
    const whole = await world.send("chat", "messages", lost);
    expect(whole.up).toMatchObject({ temperature: 1 });
    expect([whole.answer["gw"], whole.headers.get("x-gw-dropped-params")]).toEqual([
      { droppedParams: reported },
      null,
    ]);
    const streamed = await world.stream("chat", "messages", { ...lost, stream: true });
    expect(streamed.header).toBe(reported.join(", "));
    expect(streamed.text).not.toContain("droppedParams");
  });

  it("TXT-14 TXT-15: is absent if nothing was dropped", async () => {
    const whole = await world.send("chat", "messages", { temperature: 0.5 });
    expect(whole.answer).not.toHaveProperty("gw");
    const streamed = await world.stream("chat", "messages", { temperature: 0.5 });
    expect(streamed.header).toBeNull();
  });

  it("TXT-15: has names in ASCII, as headers require", async () => {
    const { header } = await world.stream("chat", "messages", { größe: 1, "a\r\nb": 2 });
    expect(header).toBe("gr??e, a??b");
  });
});
