/**
 * The scenarios that every official SDK must support through the gateway. Each SDK's test file defines how to call its SDK
 * (`Sdk`) and its names for the outcomes, and runs this list.
 */
import { expect } from "vitest";
import { failureOf, png, scripted, type World } from "./support.ts";
import { eventually } from "../support/patience.ts";

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

/** A request, independent of an SDK. */
export interface Ask {
  readonly text: string;
  readonly model?: string;
  readonly system?: string;
  readonly picture?: Buffer;
  readonly stop?: readonly string[];
  readonly tools?: readonly Tool[];
  readonly temperature?: number;
  readonly reasons?: boolean;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: unknown;
}

/** The answer as the SDK parsed it. */
export interface Told {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly finish: string | undefined;
  readonly model: string | undefined;
  /** The SDK's own usage object. */
  readonly usage: unknown;
  /** The number of pieces in which the text came; 1 for a whole answer. */
  readonly pieces: number;
  /** The assistant's turn, in the form that the SDK takes back. */
  readonly turn: unknown;
}

export interface Connection {
  ask(ask: Ask): Promise<Told>;
  /** Streams; aborts in the SDK's own way after `leaveAfter` pieces of text, and then rejects or resolves as the SDK does. */
  stream(ask: Ask, leaveAfter?: number): Promise<Told>;
  /** The next step of a conversation: the calls of `told`, and the tools' results. */
  answer(ask: Ask, told: Told, results: readonly string[]): Promise<Told>;
}

export type FailureName =
  | "wrong key"
  | "no balance"
  | "unknown model"
  | "bad value"
  | "refused upstream"
  | "rate limited"
  | "overloaded"
  | "broken stream";

export interface Sdk {
  readonly model: string;
  connect(options: {
    readonly url: string;
    readonly key: string;
    /** True enables the SDK's own retries; otherwise there are none. */
    readonly retries?: boolean;
    readonly fetch?: typeof fetch;
  }): Connection;
  /** The SDK's finish reasons. */
  readonly finish: {
    readonly stop: string;
    readonly tools: string;
    readonly stopSequence?: string;
  };
  /** The SDK's usage object for `told` below. */
  readonly usage: (input: number) => object;
  /** The upstream's body for a system prompt, and for the picture. */
  readonly system: (text: string) => object;
  readonly picture: (base64: string) => object;
  /** The errors that the SDK throws: class name and fields. */
  readonly failures: Readonly<Record<FailureName, object>>;
  /** Flattens a thrown error for comparison with `failures`. */
  readonly fields: (error: Error) => object;
}

export const weather: Tool = {
  name: "weather",
  description: "The weather in a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  },
};
const clock: Tool = {
  name: "local_time",
  description: "The time in a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const connect = (world: World, sdk: Sdk): Connection =>
  sdk.connect({ url: world.url, key: world.key });

const poem = "Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch. 🏔️";

/** Scripted usage besides `input`: 30 input tokens came from a cache, 12 output tokens are reasoning. */
const told = { output: 45, cache_read: 30, reasoning: 12 };

type Run = (world: World, sdk: Sdk) => Promise<void>;

interface Scenario {
  readonly title: string;
  /** Also checked besides the answer: the body at the upstream, or the cost of reasoning. */
  readonly looksAt?: "upstream" | "usage";
  readonly run: Run;
}

export const scenarios: readonly Scenario[] = [
  {
    title: "a plain question is answered whole, under the canonical model id",
    async run(world, sdk) {
      const answer = await connect(world, sdk).ask({ text: scripted("Hi", { reply: poem }) });
      expect(answer).toMatchObject({ text: poem, calls: [], model: sdk.model });
      expect(answer.finish).toBe(sdk.finish.stop);
    },
  },
  {
    title: "a plain question is answered in a stream of many chunks that add up to the text",
    async run(world, sdk) {
      const answer = await connect(world, sdk).stream({
        text: scripted("Hi", { reply: poem, chunk_chars: 3, sse_cut_bytes: 7 }),
      });
      expect(answer).toMatchObject({ text: poem, calls: [], model: sdk.model });
      expect(answer.finish).toBe(sdk.finish.stop);
      expect(answer.pieces).toBeGreaterThan(10);
    },
  },
  {
    title: "a tool is called, its result is sent back, and the final answer follows",
    async run(world, sdk) {
      const connection = connect(world, sdk);
      const script = {
        tool_calls: [{ name: "weather", arguments: { city: "Köln", days: 2 } }],
        next: { reply: "18 degrees in Köln." },
      };
      const ask = { text: scripted("Weather?", script), tools: [weather] };
      const first = await connection.ask(ask);
      expect(first.calls).toEqual([{ name: "weather", arguments: { city: "Köln", days: 2 } }]);
      expect(first.finish).toBe(sdk.finish.tools);
      const second = await connection.answer(ask, first, ["round trip: 18 degrees"]);
      expect(second).toMatchObject({ text: "18 degrees in Köln.", calls: [] });
      expect(await world.arrivals("round trip: 18 degrees")).toHaveLength(1);
    },
  },
  {
    title: "two parallel tool calls of a whole answer are both answered",
    run: callsInParallel("whole"),
  },
  {
    title: "two parallel tool calls of a stream are both answered",
    run: callsInParallel("streamed"),
  },
  {
    title: "a picture reaches the model byte for byte",
    looksAt: "upstream",
    async run(world, sdk) {
      const picture = png();
      const answer = await connect(world, sdk).ask({ text: "What is this picture of?", picture });
      expect(answer.text).toContain("I see 1 image.");
      const [arrival] = await world.arrivals("What is this picture of?");
      expect(arrival!.body).toMatchObject(sdk.picture(picture.toString("base64")));
    },
  },
  {
    title: "a system prompt is sent in the protocol's own place",
    looksAt: "upstream",
    async run(world, sdk) {
      const system = "You are a lighthouse keeper.";
      await connect(world, sdk).ask({ text: "Who are you?", system });
      const [arrival] = await world.arrivals(system);
      expect(arrival!.body).toMatchObject(sdk.system(system));
    },
  },
  {
    title: "the usage of a whole answer is the upstream's, and is charged",
    looksAt: "usage",
    run: countsUsage("whole"),
  },
  {
    title: "the usage of a stream is the upstream's, and is charged",
    looksAt: "usage",
    run: countsUsage("streamed"),
  },
];

type Form = "whole" | "streamed";

function callsInParallel(form: Form): Run {
  return async (world, sdk) => {
    const connection = connect(world, sdk);
    const calls = [
      { name: "weather", arguments: { city: 'Rio "de" Janeiro', days: 3 } },
      { name: "local_time", arguments: { city: "東京" } },
    ];
    const script = { tool_calls: calls, chunk_chars: 4, next: { reply: "Both known." } };
    const ask = { text: scripted(`Both, please, ${form}`, script), tools: [weather, clock] };
    const first = await connection[form === "whole" ? "ask" : "stream"](ask);
    expect(first.calls).toEqual(calls);
    expect(first.finish).toBe(sdk.finish.tools);
    const second = await connection.answer(ask, first, ["rain", "noon"]);
    expect(second.text).toBe("Both known.");
  };
}

function countsUsage(form: Form): Run {
  return async (world, sdk) => {
    const connection = connect(world, sdk);
    // The number identifies the call in the log.
    const input = form === "whole" ? 120 : 121;
    const script = { reply: "Counted.", reasoning: "One, two.", usage: { ...told, input } };
    const ask = { text: scripted("Count", script), reasons: true };
    const answer = await connection[form === "whole" ? "ask" : "stream"](ask);
    expect(answer.usage).toMatchObject(sdk.usage(input));
    const call = await world.logged(({ usage }) => usage?.inputTokens === input);
    expect(call).toMatchObject({
      status: "succeeded",
      usage_source: "upstream",
      usage: { cacheReadTokens: 30, cacheWriteTokens: 0, outputTokens: 45, reasoningTokens: 12 },
      // The sandbox's prices in nano-USD: 500 in, 50 read from a cache, 2000 out.
      cost_nano: BigInt((input - 30) * 500 + 30 * 50 + 45 * 2000),
    });
  };
}

/** Stop sequences end the text; for protocols that have them. */
export async function stopsAtSequence(world: World, sdk: Sdk): Promise<void> {
  const connection = connect(world, sdk);
  const ask = { text: scripted("Count", { reply: "one two three four" }), stop: ["three", "nine"] };
  for (const answer of [await connection.ask(ask), await connection.stream(ask)]) {
    expect(answer.text).toBe("one two ");
    expect(answer.finish).toBe(sdk.finish.stopSequence ?? sdk.finish.stop);
  }
}

/** Aborting in the middle of a stream stops the upstream, which has much left to send. The received part is charged. */
export async function leavesInMidStream(world: World, sdk: Sdk): Promise<void> {
  const marker = "Tell me a very long story";
  const script = { reply: "word ".repeat(4_000), chunk_chars: 5, chunk_delay_ms: 20 };
  await connect(world, sdk)
    .stream({ text: scripted(marker, script) }, 5)
    .catch(() => undefined);
  // The whole answer would take more than a minute.
  await eventually(
    async () => (await world.arrivals(marker)).find(({ aborted }) => aborted),
    "the upstream left too",
  );
  const call = await world.logged(({ status }) => status === "client_closed");
  expect(call.usage_source).toBe("estimated");
  expect(call.usage!.outputTokens).toBeGreaterThanOrEqual(4);
  expect(call.cost_nano).toBeGreaterThan(0n);
}

/** How the tests cause each failure. Only the last one begins as a good answer. */
const failing: Readonly<Record<FailureName, (world: World, sdk: Sdk) => Promise<unknown>>> = {
  "wrong key": ({ url }, sdk) =>
    sdk.connect({ url, key: `gw_live_${"a".repeat(49)}` }).ask({ text: "Hi" }),
  "no balance": ({ url, poorKey }, sdk) => sdk.connect({ url, key: poorKey }).ask({ text: "Hi" }),
  "unknown model": (world, sdk) =>
    connect(world, sdk).ask({ text: "Hi", model: "sandbox/nowhere" }),
  "bad value": (world, sdk) => connect(world, sdk).ask({ text: "Hi", temperature: 9 }),
  "refused upstream": (world, sdk) =>
    connect(world, sdk).ask({
      text: scripted("No", { status: 400, error: { message: "Not in this house." } }),
    }),
  "rate limited": (world, sdk) =>
    connect(world, sdk).ask({ text: scripted("Slow", { status: 429, retry_after: 7 }) }),
  overloaded: (world, sdk) =>
    connect(world, sdk).ask({ text: scripted("Full", { status: 503, retry_after: 9 }) }),
  "broken stream": (world, sdk) =>
    connect(world, sdk).stream({
      text: scripted("Break", {
        reply: poem,
        chunk_chars: 4,
        chunk_delay_ms: 1,
        stream_error: 5,
        // Without a type, two of the vendors say that they are overloaded.
        error: { message: "Gone.", type: "api_error" },
      }),
    }),
};

export const failureNames = Object.keys(failing) as FailureName[];

/** The SDK throws the class of its own vendor's error of that kind, with the same fields set. */
export async function failsAs(world: World, sdk: Sdk, name: FailureName): Promise<void> {
  const error = await failureOf(failing[name](world, sdk));
  expect({ class: error.constructor.name, ...sdk.fields(error) }).toMatchObject(sdk.failures[name]);
}

/** With the SDK's own retries on, a call without balance is sent once, and never reaches the upstream. */
export async function paysOnce(world: World, sdk: Sdk): Promise<void> {
  const counter = world.countingFetch();
  const { url, poorKey: key } = world;
  const connection = sdk.connect({ url, key, retries: true, fetch: counter.fetch });
  const error = await failureOf(connection.ask({ text: "For nothing, please" }));
  expect(sdk.fields(error)).toMatchObject({ status: 402 });
  expect(counter.calls()).toBe(1);
  expect(await world.arrivals("For nothing, please")).toHaveLength(0);
}

/** With the SDK's own retries on, the SDK waits for a temporary rate limit. */
export async function waitsOutRateLimit(world: World, sdk: Sdk): Promise<void> {
  const counter = world.countingFetch();
  const { url, key } = world;
  const connection = sdk.connect({ url, key, retries: true, fetch: counter.fetch });
  // The vendor says when to retry: the gateway passes that on, and does not retry at once.
  const script = { status: 429, retry_after: 1, times: 1, reply: "Thank you for waiting." };
  const answer = await connection.ask({ text: scripted(`Wait, ${sdk.model}`, script) });
  expect(answer.text).toBe("Thank you for waiting.");
  expect(counter.calls()).toBe(2);
}
