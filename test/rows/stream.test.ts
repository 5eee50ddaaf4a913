/** Streams on direct routes: both forms, their endings, and all cuts of the upstream's bytes. STREAM rows; T17. */
import { setImmediate as turn } from "node:timers/promises";
import type { SseEvent } from "../../src/base/sse.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import { sse, type Answer } from "../support/recorder.ts";
import {
  answerText,
  at,
  chat,
  eachProtocol,
  generateContent,
  messages,
  parsed,
  responses,
  textAt,
  type Protocol,
} from "./protocols.ts";
import {
  answering,
  costAtSecondNano,
  readEvents,
  startWorld,
  stream,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const eventsOf = async (protocol: Protocol, extra: object = {}) =>
  readEvents(await world.call(protocol, { stream: true, extra }));

describe("a stream of each protocol", () => {
  it.each(eachProtocol)(
    "STREAM-01 STREAM-09: frames reach the caller while the upstream still writes (%s)",
    async (_name, protocol) => {
      let sendRest = (): void => undefined;
      const held = protocol.frames.slice(0, 2);
      const rest = protocol.frames.slice(2);
      world.answer(stream(held, (upstream) => (sendRest = () => upstream.end(rest.join("")))));
      const answer = await world.call(protocol, { stream: true });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
      const reader = answer.body!.getReader();
      // The upstream sends nothing more before this was read.
      const first = new TextDecoder().decode((await reader.read()).value);
      expect(first).toMatch(/^(event: .*\n)?data: \{/);
      sendRest();
      let text = first;
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        text += Buffer.from(piece.value).toString();
      }
      const events = await readEvents(new Response(text));
      expect(protocol.textOfFrames(events)).toBe(answerText);
      expect(protocol.endsNormally(events)).toBe(true);
    },
  );

  it("STREAM-02: generateContent streams as events with alt=sse, and as one JSON array without", async () => {
    const events = await eventsOf(generateContent);
    expect(events.every((event) => event.event === undefined)).toBe(true);
    const path = "/v1beta/models/acme/gemini:streamGenerateContent";
    const array = await world.gateway.post(path, generateContent.body("", true));
    expect(array.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await array.json()).toEqual(events.map(parsed));
    const whole = await world.gateway.post(
      "/v1beta/models/acme/gemini:generateContent?alt=sse",
      generateContent.body("", false),
    );
    expect(generateContent.textOf((await whole.json()) as never)).toBe(answerText);
  });

  it.each(eachProtocol)(
    "STREAM-04 STREAM-05: end markers that the upstream leaves out are added (%s)",
    async (_name, protocol) => {
      const full = await eventsOf(protocol);
      // The number of end markers to leave out.
      const without = { chat: 1, responses: 0, messages: 1, generate_content: 0 }[protocol.name];
      world.answer(sse(protocol.frames.slice(0, protocol.frames.length - without).join("")));
      const events = await eventsOf(protocol);
      expect(protocol.endsNormally(events)).toBe(true);
      expect(events).toEqual(full);
    },
  );

  it("STREAM-05: a messages block that the upstream leaves open is closed before the end", async () => {
    const frames = messages.frames.filter((frame) => !frame.includes("content_block_stop"));
    world.answer(sse(frames.join("")));
    const names = (await eventsOf(messages)).map((event) => event.event);
    expect(names.filter((name) => name === "content_block_stop")).toHaveLength(1);
    expect(names.slice(-3)).toEqual(["content_block_stop", "message_delta", "message_stop"]);
  });

  it("T16: a chat stream with only an end marker fails over to the next provider, whose answer is charged", async () => {
    world.first.answer(stream(["data: [DONE]\n\n"]));
    const answered = await world.call(chat, { model: `${chat.model}:@price`, stream: true });
    expect(chat.textOfFrames(await readEvents(answered))).toBe(answerText);
    expect(await world.row(answered)).toMatchObject({
      provider: "second",
      cost_nano: costAtSecondNano,
      attempts: [{ provider: "first", outcome: "bad_answer" }, { provider: "second" }],
    });
  });

  it("STREAM-06 STREAM-07: responses streams named events, and reports its usage in response.completed", async () => {
    const events = await eventsOf(responses);
    const named = events.slice(0, -1);
    expect(named.map((event) => event.event)).toEqual(named.map((event) => parsed(event)["type"]));
    expect(named.map((event) => event.event)).toContain("response.output_text.delta");
    expect(named.map((event) => parsed(event)["sequence_number"])).toEqual([...named.keys()]);
    expect(at(parsed(named.at(-1)!), "response", "usage")).toMatchObject({
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
    });
    expect(events.at(-1)!.data).toBe("[DONE]");
  });
});

/** Writes each chunk separately, so that the reader gets them one by one as far as TCP allows. */
const inChunks =
  (chunks: readonly Uint8Array[]): Answer =>
  async (_request, upstream) => {
    upstream.writeHead(200, { "content-type": "text/event-stream" });
    upstream.socket!.setNoDelay(true);
    for (const chunk of chunks) {
      upstream.write(chunk);
      await turn();
    }
    upstream.end();
  };

/** Calls once per list of chunks, several at a time, and expects the same events from each. */
async function expectSame(
  protocol: Protocol,
  expected: readonly SseEvent[],
  cuts: readonly (readonly Uint8Array[])[],
): Promise<void> {
  let next = 0;
  world.answer((request, upstream) => inChunks(cuts[next++]!)(request, upstream));
  while (next < cuts.length) {
    const some = Math.min(16, cuts.length - next);
    const answers = await Promise.all(Array.from({ length: some }, () => eventsOf(protocol)));
    for (const events of answers) expect(events).toEqual(expected);
  }
}

describe("T17: a stream whose bytes are cut into chunks", () => {
  it.each(eachProtocol)(
    "T17: has the same events one byte at a time (%s)",
    async (_name, protocol) => {
      const expected = await eventsOf(protocol);
      const bytes = Buffer.from(protocol.frames.join(""));
      world.answer(inChunks([...bytes.keys()].map((index) => bytes.subarray(index, index + 1))));
      expect(await eventsOf(protocol)).toEqual(expected);
    },
  );

  it.each(eachProtocol)(
    "T17: has the same events with one cut, at each byte of non-ASCII characters and of frame ends (%s)",
    async (_name, protocol) => {
      const bytes = Buffer.from(protocol.frames.join(""));
      const places = [...bytes.keys()].filter(
        (index) => bytes[index]! >= 0x80 || bytes[index] === 10 || bytes[index - 1] === 10,
      );
      expect(places.length).toBeGreaterThan(15);
      await expectSame(
        protocol,
        await eventsOf(protocol),
        places.map((place) => [bytes.subarray(0, place), bytes.subarray(place)]),
      );
    },
  );

  it.each(eachProtocol)(
    "T17: has the same events with several frames in a chunk, other line ends, comments, or comments sent as data (%s)",
    async (_name, protocol) => {
      const expected = await eventsOf(protocol);
      const text = protocol.frames.join("");
      for (const variant of [
        text,
        text.replaceAll("\n", "\r\n"),
        text.replaceAll("\n", "\r"),
        `: hello\n\n${text.replaceAll("data: ", "data:")}: bye\n\n`,
        `data: : keepalive\n\n${text.replaceAll("\n\n", "\n\ndata: : keepalive\n\n")}`,
        text.trimEnd(),
      ]) {
        world.answer(sse(variant));
        expect(await eventsOf(protocol)).toEqual(expected);
      }
      // Frames in the answer are not joined.
      const raw = await (await world.call(protocol, { stream: true })).text();
      expect(raw.split("\n\n").filter((frame) => frame !== "")).toHaveLength(expected.length);
      expect(raw.endsWith("\n\n")).toBe(true);
    },
  );

  it("T17: has the same events with a cut at any byte of a chat stream of tool calls and escaped characters", async () => {
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    const call = (fields: object) => ({ tool_calls: [{ index: 0, ...fields }] });
    const text = [
      chunk({
        role: "assistant",
        ...call({ id: "call_1", type: "function", function: { name: "f", arguments: "" } }),
      }),
      chunk(call({ function: { arguments: '{"q":"\\"ü\\n' } })),
      chunk(call({ function: { arguments: '🙂"}' } })),
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
      "data: [DONE]\n\n",
    ].join("");
    world.answer(sse(text));
    const expected = await eventsOf(chat);
    const argumentsOf = (body: unknown) =>
      textAt(body, "choices", 0, "delta", "tool_calls", 0, "function", "arguments");
    const bodies = expected.slice(0, -1).map(parsed);
    expect(bodies.map(argumentsOf).join("")).toBe('{"q":"\\"ü\\n🙂"}');
    const bytes = Buffer.from(text);
    // The short form takes every fifth byte, with one cut before it and one behind it.
    const places = [...bytes.keys()].slice(1).filter((index) => index % shortOrLong(5, 1) === 0);
    await expectSame(
      chat,
      expected,
      places.map((place) => [
        bytes.subarray(0, place),
        bytes.subarray(place, place + 1),
        bytes.subarray(place + 1),
      ]),
    );
  });
});
