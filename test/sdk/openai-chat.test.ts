/** The `openai` SDK at `/v1/chat/completions`. Spec: "Text endpoints", "Errors" 1. */
import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionCreateParams } from "openai/resources";
import { describe, expect, it } from "vitest";
import { openaiFields, openaiFailures } from "./openai-support.ts";
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
import { useWorld } from "./support.ts";

type Messages = ChatCompletionCreateParams["messages"];
type Turn = ChatCompletion["choices"][number]["message"];

function messagesOf({ system, text, picture }: Ask): Messages {
  const image = {
    type: "image_url",
    image_url: { url: `data:image/png;base64,${picture?.toString("base64")}` },
  } as const;
  return [
    ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
    { role: "user", content: picture ? [{ type: "text", text }, image] : text },
  ];
}

const paramsOf = (ask: Ask) => ({
  model: ask.model ?? "sandbox/chat",
  messages: messagesOf(ask),
  ...(ask.temperature !== undefined && { temperature: ask.temperature }),
  ...(ask.reasons && { reasoning_effort: "high" as const }),
  ...(ask.stop && { stop: [...ask.stop] }),
  ...(ask.tools && {
    tools: ask.tools.map((tool) => ({ type: "function" as const, function: { ...tool } })),
  }),
});

function tell(completion: ChatCompletion, pieces: number): Told {
  const { message, finish_reason: finish } = completion.choices[0]!;
  const calls = (message.tool_calls ?? []).filter((call) => call.type === "function");
  return {
    text: message.content ?? "",
    calls: calls.map((call) => ({
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    })),
    finish,
    model: completion.model,
    usage: completion.usage,
    pieces,
    turn: message,
  };
}

function connect({ url, key, retries, fetch }: Parameters<Sdk["connect"]>[0]): Connection {
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/v1`,
    ...(retries ? {} : { maxRetries: 0 }),
    ...(fetch && { fetch }),
  });
  return {
    ask: async (ask) => tell(await client.chat.completions.create(paramsOf(ask)), 1),
    async stream(ask, leaveAfter = Infinity) {
      const stream_options = { include_usage: true };
      const stream = client.chat.completions.stream({ ...paramsOf(ask), stream_options });
      let pieces = 0;
      for await (const chunk of stream) {
        if (!chunk.choices[0]?.delta.content) continue;
        pieces += 1;
        if (pieces === leaveAfter) stream.abort();
      }
      return tell(await stream.finalChatCompletion(), pieces);
    },
    async answer(ask, told, results) {
      const turn = told.turn as Turn;
      const messages: Messages = [
        ...messagesOf(ask),
        turn,
        ...results.map((content, at) => ({
          role: "tool" as const,
          tool_call_id: turn.tool_calls![at]!.id,
          content,
        })),
      ];
      return tell(await client.chat.completions.create({ ...paramsOf(ask), messages }), 1);
    },
  };
}

const chat: Sdk = {
  model: "sandbox/chat",
  connect,
  finish: { stop: "stop", tools: "tool_calls" },
  usage: (input) => ({
    prompt_tokens: input,
    completion_tokens: 45,
    total_tokens: input + 45,
    prompt_tokens_details: { cached_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 12 },
  }),
  system: (content) => ({ messages: [{ role: "system", content }, { role: "user" }] }),
  picture: (base64) => ({
    messages: [
      { content: [{ type: "text" }, { image_url: { url: `data:image/png;base64,${base64}` } }] },
    ],
  }),
  failures: openaiFailures,
  fields: openaiFields,
};

describe("openai over chat completions", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, chat));
  it("stop sequences end the text", () => stopsAtSequence(world, chat));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, chat));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, chat, name),
  );
  it("BILL-23 ERR-09: a 402 is not sent again, and never reaches the upstream", () =>
    paysOnce(world, chat));
  it("a rate limit that passes is waited for", () => waitsOutRateLimit(world, chat));

  it("several choices are streamed side by side", async () => {
    const client = new OpenAI({ apiKey: world.key, baseURL: `${world.url}/v1`, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({
        model: chat.model,
        n: 2,
        messages: [{ role: "user", content: 'Twice\n#sandbox {"reply":"the same words"}' }],
      })
      .finalChatCompletion();
    expect(completion.choices.map(({ index, message }) => [index, message.content])).toEqual([
      [0, "the same words"],
      [1, "the same words"],
    ]);
  });
});
