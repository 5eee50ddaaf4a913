/**
 * Billed and reported usage on direct routes. T44 to T50, T59 to T61, BILL-23; prices: world.ts.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openCall } from "../ledger/open-calls.ts";
import { json, sse, type Answer } from "../support/recorder.ts";
import {
  at,
  chat,
  eachProtocol,
  generateContent,
  messages,
  parsed,
  protocols,
  responses,
  type Protocol,
} from "./protocols.ts";
import {
  answering,
  costAtFirstNano,
  readEvents,
  startWorld,
  withoutOwnIds,
  type World,
} from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const atFirst = (protocol: Protocol) => `${protocol.model}:first`;

/** Makes a call and reads its answer. Returns the answer, its cost and its log row. */
async function cost(protocol: Protocol, stream: boolean, extra: object = {}) {
  const before = await world.charged();
  const answer = await world.call(protocol, { model: atFirst(protocol), stream, extra });
  const text = await answer.text();
  return { answer, text, nano: (await world.charged()) - before, row: await world.row(answer) };
}

const eventsIn = (text: string) => readEvents(new Response(text));
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value without members of these names, at any depth. */
function withoutKeys(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutKeys(one, names));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !names.includes(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutKeys(member, names)]));
}

const usageKeys = ["usage", "usageMetadata"];
const withoutUsage = (protocol: Protocol): Answer => {
  const whole = withoutKeys(protocol.whole(), usageKeys);
  const frames = protocol.frames
    .filter((frame) => !/"choices":\[\],"usage"/.test(frame))
    .map((frame) =>
      frame.replace(
        /^data: (\{.*)$/m,
        (_all, text: string) => `data: ${JSON.stringify(withoutKeys(JSON.parse(text), usageKeys))}`,
      ),
    );
  return (request, upstream) =>
    request.body["stream"] === true || request.path.includes(":stream")
      ? sse(frames.join(""))(request, upstream)
      : json(whole)(request, upstream);
};

describe("the bill of an answer", () => {
  it.each(eachProtocol)(
    "T46 T50: counts cached tokens once at the cache price, and reasoning tokens once, whole and streamed (%s)",
    async (_name, protocol) => {
      for (const stream of [false, true]) {
        const { nano, row } = await cost(protocol, stream);
        expect([stream, nano]).toEqual([stream, costAtFirstNano]);
        expect(row).toMatchObject({
          cost_nano: costAtFirstNano,
          usage_source: "upstream",
          status: "succeeded",
          usage: { inputTokens: 100, cacheReadTokens: 40, outputTokens: 20 },
        });
      }
    },
  );

  it.each(eachProtocol)(
    "T59: two identical calls of a key without a cache both reach the upstream, and both are billed (%s)",
    async (_name, protocol) => {
      for (const stream of [false, true]) {
        world.answer(answering);
        const costs = [await cost(protocol, stream), await cost(protocol, stream)];
        expect(world.first.requests).toHaveLength(2);
        expect(costs.map(({ nano }) => nano)).toEqual([costAtFirstNano, costAtFirstNano]);
        expect(costs[0]!.row.id).not.toBe(costs[1]!.row.id);
      }
    },
  );

  it("T47: a stream is billed by the upstream's usage, which a caller who did not request it does not see", async () => {
    const { text, nano } = await cost(chat, true);
    expect(world.first.requests[0]!.body["stream_options"]).toEqual({ include_usage: true });
    expect(nano).toBe(costAtFirstNano);
    const chunks = (await eventsIn(text)).slice(0, -1).map(parsed);
    expect(chunks.every((chunk) => !("usage" in chunk))).toBe(true);
    expect(chunks.every((chunk) => (chunk["choices"] as unknown[]).length === 1)).toBe(true);
    const declined = await cost(chat, true, { stream_options: { include_usage: false } });
    expect(declined.nano).toBe(costAtFirstNano);
    expect(withoutOwnIds(declined.text)).toBe(withoutOwnIds(text));
  });

  it("T47: a caller who requested usage gets it once, in the last chunk, and null before", async () => {
    const { text, nano } = await cost(chat, true, { stream_options: { include_usage: true } });
    expect(nano).toBe(costAtFirstNano);
    const chunks = (await eventsIn(text)).slice(0, -1).map(parsed);
    expect(chunks.slice(0, -1).map((chunk) => chunk["usage"])).toEqual(
      chunks.slice(0, -1).map(() => null),
    );
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    });
  });

  it.each(eachProtocol)(
    "T48: an answer without usage is billed by an estimate, marked as such, and never at zero (%s)",
    async (_name, protocol) => {
      world.answer(withoutUsage(protocol));
      for (const stream of [false, true]) {
        const { nano, row } = await cost(protocol, stream);
        expect(nano).toBeGreaterThan(0n);
        expect(row.usage_source).toBe("estimated");
        expect(row.usage!["outputTokens"]).toBeGreaterThan(2);
        expect(row.usage!["outputTokens"]).toBeLessThan(20);
        expect(row.usage!["inputTokens"]).toBeGreaterThan(0);
      }
    },
  );

  it.each([
    ["chat", chat, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ["responses", responses, { input_tokens: 0, output_tokens: 0, total_tokens: 0 }],
    ["messages", messages, { input_tokens: 0, output_tokens: 0 }],
    [
      "generate_content",
      generateContent,
      { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    ],
  ] as const)(
    "T61: a reported usage of 0 is billed as 0, not estimated (%s)",
    async (name, protocol, usage) => {
      world.answer(
        json({
          ...protocol.whole(),
          [name === "generate_content" ? "usageMetadata" : "usage"]: usage,
        }),
      );
      const { nano, row } = await cost(protocol, false);
      expect(nano).toBe(0n);
      expect(row.usage_source).toBe("upstream");
    },
  );

  it("T61: a reported usage of 0 in a stream is billed as 0 too", async () => {
    const zero = (protocol: Protocol) =>
      sse(protocol.frames.join("").replaceAll(/"(\w*tokens|\w+TokenCount)":\d+/g, '"$1":0'));
    for (const protocol of protocols) {
      world.answer(zero(protocol));
      const { nano, row } = await cost(protocol, true);
      expect([protocol.name, nano, row.usage_source]).toEqual([protocol.name, 0n, "upstream"]);
    }
  });
});

describe("the usage that callers receive", () => {
  it("T44: message_start has input tokens, estimated if the upstream reports none, and the end has the true count", async () => {
    const [, ...rest] = messages.frames;
    const start = JSON.parse(messages.frames[0]!.replace(/^[^{]*/, "")) as {
      message: { usage: object };
    };
    for (const usage of [{ input_tokens: 0, output_tokens: 0 }, {}]) {
      start.message.usage = usage;
      const end = `event: message_delta\ndata: ${JSON.stringify({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 } })}\n\n`;
      world.answer(
        sse(
          `event: message_start\ndata: ${JSON.stringify(start)}\n\n${rest.join("").replace(/event: message_delta\n.*\n\n/, () => end)}`,
        ),
      );
      const { text, nano } = await cost(messages, true);
      const events = (await eventsIn(text)).map(parsed);
      expect(at(events[0], "message", "usage", "input_tokens")).toBeGreaterThan(0);
      expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 60, output_tokens: 20 } });
      expect(nano).toBe(costAtFirstNano);
    }
  });

  it.each(["incomplete", "completed"])(
    "T45: the usage of a response that ends as %s is reported and billed, whole and streamed",
    async (status) => {
      const rest =
        status === "incomplete"
          ? { status, incomplete_details: { reason: "max_output_tokens" } }
          : { status };
      const whole = { ...responses.whole(), ...rest };
      const last = `event: response.${status}\ndata: ${JSON.stringify({ type: `response.${status}`, sequence_number: 9, response: whole })}\n\n`;
      world.answer((request, upstream) =>
        request.body["stream"] === true
          ? sse([...responses.frames.slice(0, -1), last].join(""))(request, upstream)
          : json(whole)(request, upstream),
      );
      const streamed = await cost(responses, true);
      expect(streamed.nano).toBe(costAtFirstNano);
      expect(parsed((await eventsIn(streamed.text)).at(-2)!)).toMatchObject({
        type: `response.${status}`,
        response: {
          status,
          usage: { output_tokens: 20, output_tokens_details: { reasoning_tokens: 5 } },
        },
      });
      const once = await cost(responses, false);
      expect(once.nano).toBe(costAtFirstNano);
      expect(JSON.parse(once.text)).toMatchObject({ status, usage: { total_tokens: 120 } });
    },
  );

  it("T49: repeated usage is cumulative: only the last one is billed", async () => {
    const told = (input: number, output: number) =>
      `event: message_delta\ndata: ${JSON.stringify({ type: "message_delta", delta: { stop_reason: null, stop_sequence: null }, usage: { input_tokens: input, cache_read_input_tokens: 40, output_tokens: output } })}\n\n`;
    const frames = [...messages.frames];
    frames.splice(3, 0, told(59, 3), told(60, 9));
    world.answer(sse(frames.join("")));
    expect((await cost(messages, true)).nano).toBe(costAtFirstNano);
    const google = generateContent.frames.map((frame, index) =>
      index === 2
        ? frame
        : frame.replace(
            "}\n\n",
            `,"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":${index * 4},"totalTokenCount":${100 + index * 4}}}\n\n`,
          ),
    );
    world.answer(sse(google.join("")));
    expect((await cost(generateContent, true)).nano).toBe(costAtFirstNano);
  });

  it("T50: chat includes cached tokens in prompt_tokens, messages counts them beside input_tokens, and the totals agree", async () => {
    const told = JSON.parse((await cost(chat, false)).text) as unknown;
    expect(at(told, "usage")).toMatchObject({
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 40 },
      total_tokens: 120,
    });
    // A vendor that excludes cached tokens from prompt_tokens, but not from its total.
    world.answer(
      json({
        ...chat.whole(),
        usage: {
          prompt_tokens: 60,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 40 },
        },
      }),
    );
    const other = await cost(chat, false);
    expect(other.nano).toBe(costAtFirstNano);
    expect(at(JSON.parse(other.text), "usage")).toMatchObject({
      prompt_tokens: 100,
      total_tokens: 120,
    });
    world.answer(answering);
    expect(at(JSON.parse((await cost(messages, false)).text), "usage")).toMatchObject({
      input_tokens: 60,
      cache_read_input_tokens: 40,
      output_tokens: 20,
    });
  });
});

describe("an upstream's error with status 200", () => {
  const errors: readonly (readonly [string, unknown])[] = [
    [
      "an error object",
      {
        error: {
          message: "the model is out of memory, try again with less",
          type: "server_error",
          code: "oom",
        },
      },
    ],
    ["an error string", { error: "the model is out of memory", code: "oom" }],
    ["an empty object", {}],
    ["FastAPI's detail", { detail: "Internal error" }],
  ];
  it.each(errors)(
    "T60: with %s, becomes an error for the caller and is not billed",
    async (_what, body) => {
      for (const protocol of protocols) {
        for (const stream of [false, true]) {
          world.answer(json(body));
          const { answer, text, nano, row } = await cost(protocol, stream);
          expect([protocol.name, stream, answer.status]).toEqual([protocol.name, stream, 502]);
          expect(JSON.parse(text)).toHaveProperty("error");
          expect(nano).toBe(0n);
          expect(row).toMatchObject({ status: "failed", usage: null });
        }
      }
    },
  );

  it("T60: as a failed response, becomes 502, and its error text is not billed", async () => {
    const failed = {
      ...responses.whole(),
      status: "failed",
      output: [],
      usage: null,
      error: { code: "server_error", message: "a long story of what went wrong ".repeat(20) },
    };
    world.answer(json(failed));
    const { answer, nano } = await cost(responses, false);
    expect(answer.status).toBe(502);
    expect(nano).toBe(0n);
  });

  it.each(eachProtocol)(
    "T60: inside a stream, leaves the call unbilled (%s)",
    async (_name, protocol) => {
      world.answer(sse(protocol.frames.slice(0, 3).join("") + protocol.errorFrame));
      const { nano, row } = await cost(protocol, true);
      expect(nano).toBe(0n);
      expect(row).toMatchObject({ cost_nano: 0n, usage: null });
    },
  );
});

describe("a workspace without balance", () => {
  it("BILL-23 ERR-09 RESP-55 RESP-56: gets 402 without a retry before any provider is called, and the usual provider once money is free again", async () => {
    const { workspaceId } = world.gateway;
    const balance = () => world.gateway.ledger.balance(workspaceId);
    await expect.poll(async () => (await balance()).heldNano).toBe(0n);
    const { availableNano } = await balance();
    const keys = await world.gateway.database.query<{ id: string }>(
      "select id from api_keys limit 1",
    );
    const all = await openCall(world.gateway.ledger, {
      id: "all-of-it",
      workspaceId,
      keyId: keys[0]!.id,
      keyRotation: 0,
      amountNano: availableNano,
    });
    for (const protocol of protocols) {
      for (const stream of [false, true]) {
        const answer = await world.call(protocol, { stream, model: `${protocol.model}:@price` });
        expect([protocol.name, answer.status]).toEqual([protocol.name, 402]);
        expect(answer.headers.get("x-should-retry")).toBe("false");
        expect(answer.headers.has("retry-after")).toBe(false);
        expect(await answer.json()).toHaveProperty(
          "error.message",
          expect.stringContaining("available"),
        );
      }
    }
    expect([...world.first.requests, ...world.second.requests]).toHaveLength(0);
    await all.end(null);
    const answer = await world.call(responses, { model: `${responses.model}:@price` });
    expect(answer.status).toBe(200);
    expect((await world.row(answer)).provider).toBe("first");
  });
});
