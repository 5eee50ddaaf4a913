/** `@anthropic-ai/sdk` at `/v1/messages`. Spec: "Text endpoints"; decisions "key carriers". */
import Anthropic from "@anthropic-ai/sdk";
import type {
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources";
import { describe, expect, it } from "vitest";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  paysOnce,
  scenarios,
  stopsAtSequence,
  waitsOutRateLimit,
  type Ask,
  type Connection,
  type Sdk,
  type Told,
} from "./scenarios.ts";
import { failureOf, scripted, useWorld } from "./support.ts";

function userOf({ text, picture }: Ask): MessageParam {
  if (!picture) return { role: "user", content: text };
  const data = picture.toString("base64");
  return {
    role: "user",
    content: [
      { type: "image", source: { type: "base64", media_type: "image/png", data } },
      { type: "text", text },
    ],
  };
}

function paramsOf(ask: Ask): MessageCreateParamsNonStreaming {
  return {
    model: ask.model ?? "sandbox/messages",
    max_tokens: 4000,
    messages: [userOf(ask)],
    ...(ask.system !== undefined && { system: ask.system }),
    ...(ask.temperature !== undefined && { temperature: ask.temperature }),
    ...(ask.reasons && { thinking: { type: "enabled", budget_tokens: 1024 } }),
    ...(ask.stop && { stop_sequences: [...ask.stop] }),
    ...(ask.tools && {
      tools: ask.tools.map(({ parameters, ...tool }) => ({
        ...tool,
        input_schema: { type: "object" as const, ...parameters },
      })),
    }),
  };
}

function tell(message: Message, pieces: number): Told {
  const texts = message.content.filter((block) => block.type === "text");
  const calls = message.content.filter((block) => block.type === "tool_use");
  return {
    text: texts.map(({ text }) => text).join(""),
    calls: calls.map((call) => ({ name: call.name, arguments: call.input })),
    finish: message.stop_reason ?? undefined,
    model: message.model,
    usage: message.usage,
    pieces,
    turn: message.content,
  };
}

function connect({ url, key, retries, fetch }: Parameters<Sdk["connect"]>[0]): Connection {
  const client = new Anthropic({
    apiKey: key,
    baseURL: url,
    ...(retries ? {} : { maxRetries: 0 }),
    ...(fetch && { fetch }),
  });
  return {
    ask: async (ask) => tell(await client.messages.create(paramsOf(ask)), 1),
    async stream(ask, leaveAfter = Infinity) {
      const stream = client.messages.stream(paramsOf(ask));
      let pieces = 0;
      for await (const event of stream) {
        if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
        pieces += 1;
        if (pieces === leaveAfter) stream.abort();
      }
      return tell(await stream.finalMessage(), pieces);
    },
    async answer(ask, told, results) {
      const turn = told.turn as Message["content"];
      const calls = turn.filter((block) => block.type === "tool_use");
      const messages: MessageParam[] = [
        userOf(ask),
        { role: "assistant", content: turn },
        {
          role: "user",
          content: calls.map((call, at) => ({
            type: "tool_result",
            tool_use_id: call.id,
            content: results[at]!,
          })),
        },
      ];
      return tell(await client.messages.create({ ...paramsOf(ask), messages }), 1);
    },
  };
}

const requestID = expect.stringMatching(/^req_/);
const failure = (klass: string, status: number, type: string, more: object = {}): object => ({
  class: klass,
  status,
  requestID,
  type,
  ...more,
});
const coded = (error_code: string, more: object = {}) => ({
  error: { type: "error", error: { details: { error_code, ...more } }, request_id: requestID },
});

const messages: Sdk = {
  model: "sandbox/messages",
  connect,
  finish: { stop: "end_turn", tools: "tool_use", stopSequence: "stop_sequence" },
  usage: (input) => ({
    input_tokens: input - 30,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 0,
    output_tokens: 45,
  }),
  system: (system) => ({ system, messages: [{ role: "user" }] }),
  picture: (data) => ({
    messages: [
      { content: [{ type: "image", source: { type: "base64", data } }, { type: "text" }] },
    ],
  }),
  failures: {
    "wrong key": failure(
      "AuthenticationError",
      401,
      "authentication_error",
      coded("invalid_api_key"),
    ),
    "no balance": failure("PaymentRequiredError", 402, "billing_error", {
      ...coded("insufficient_balance"),
      shouldRetry: "false",
      retryAfter: null,
    }),
    "unknown model": failure("NotFoundError", 404, "not_found_error", coded("model_not_found")),
    "bad value": failure(
      "BadRequestError",
      400,
      "invalid_request_error",
      coded("integer_above_max_value", { param: "temperature" }),
    ),
    "refused upstream": failure("BadRequestError", 400, "invalid_request_error", {
      error: { error: { message: "Not in this house." } },
    }),
    "rate limited": failure("RateLimitError", 429, "rate_limit_error", { retryAfter: "7" }),
    overloaded: failure("ServiceUnavailableError", 503, "overloaded_error", { retryAfter: "9" }),
    "broken stream": {
      class: "APIError",
      type: "api_error",
      error: { error: { details: { error_code: "upstream_error" } } },
    },
  },
  fields(error) {
    const { headers } = error as { headers?: Headers };
    return {
      ...Object.fromEntries(Object.entries(error)),
      retryAfter: headers?.get("retry-after"),
      shouldRetry: headers?.get("x-should-retry"),
    };
  },
};

describe("@anthropic-ai/sdk over messages", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, messages));
  it("stop sequences end the text", () => stopsAtSequence(world, messages));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, messages));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, messages, name),
  );
  it("BILL-23 ERR-09: a 402 is not sent again, and never reaches the upstream", () =>
    paysOnce(world, messages));
  it("a rate limit that passes is waited for", () => waitsOutRateLimit(world, messages));

  const hello = { model: "sandbox/messages", max_tokens: 100 };

  it.each([
    ["apiKey", (key: string) => ({ apiKey: key })],
    ["authToken", (key: string) => ({ apiKey: null, authToken: key })],
    [
      "x-api-key",
      (key: string) => ({ apiKey: "x", defaultHeaders: { "x-api-key": key, authorization: null } }),
    ],
  ])("the key may be given as %s", async (_name, credential) => {
    const client = new Anthropic({ ...credential(world.key), baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { reply: "Come in." });
    const answer = await client.messages.create({
      ...hello,
      messages: [{ role: "user", content }],
    });
    expect(answer.content).toMatchObject([{ type: "text", text: "Come in." }]);
  });

  it("the vendor's own 529 is an overload as well, with a time to come again", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { status: 529 });
    const asked = client.messages.create({ ...hello, messages: [{ role: "user", content }] });
    const error = (await failureOf(asked)) as InstanceType<typeof Anthropic.APIError>;
    expect(error).toMatchObject({ status: 503, type: "overloaded_error" });
    expect(error.headers?.get("retry-after")).toBe("5");
  });

  it("T44: a stream tells its input at the start, and the true count at its end", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const content = scripted("Hi", { reply: "Hello.", usage: { input: 77, output: 3 } });
    const stream = client.messages.stream({ ...hello, messages: [{ role: "user", content }] });
    let atStart = 0;
    stream.on("streamEvent", (event) => {
      if (event.type === "message_start") atStart = event.message.usage.input_tokens;
    });
    const { usage } = await stream.finalMessage();
    expect(atStart).toBe(77);
    expect(usage).toMatchObject({ input_tokens: 77, output_tokens: 3 });
  });

  it("thinking keeps its signature, and goes back with a tool result as it came", async () => {
    const client = new Anthropic({ apiKey: world.key, baseURL: world.url, maxRetries: 0 });
    const script = {
      reasoning: "A city is asked for.",
      tool_calls: [{ name: "weather", arguments: { city: "Bonn" } }],
      next: { reply: "Rain." },
    };
    const question: MessageParam = { role: "user", content: scripted("Weather?", script) };
    const common = {
      model: "sandbox/messages",
      max_tokens: 4000,
      thinking: { type: "enabled" as const, budget_tokens: 2000 },
      tools: [{ name: "weather", input_schema: { type: "object" as const } }],
    };
    const first = await client.messages.stream({ ...common, messages: [question] }).finalMessage();
    const [thinking, call] = first.content;
    expect(thinking).toMatchObject({ type: "thinking", thinking: "A city is asked for." });
    if (call?.type !== "tool_use") throw new Error("a tool call was expected");
    // The sandbox, as the vendor, refuses a signature that is not its own.
    const second = await client.messages.create({
      ...common,
      messages: [
        question,
        { role: "assistant", content: first.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "wet" }] },
      ],
    });
    expect(second.content).toMatchObject([{ type: "text", text: "Rain." }]);
  });
});
