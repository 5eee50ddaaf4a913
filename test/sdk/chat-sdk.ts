/** The `openai` SDK at `/v1/chat/completions`. Requirements: TXT, ERR. */
import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionCreateParams } from "openai/resources";
import { openaiFields, openaiFailures } from "./openai-support.ts";
import type { Ask, Connection, Sdk, Told } from "./scenarios.ts";

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

function toAnswer(completion: ChatCompletion, pieces: number): Told {
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
    ask: async (ask) => toAnswer(await client.chat.completions.create(paramsOf(ask)), 1),
    async stream(ask, leaveAfter = Infinity) {
      const stream_options = { include_usage: true };
      const stream = client.chat.completions.stream({ ...paramsOf(ask), stream_options });
      let pieces = 0;
      for await (const chunk of stream) {
        if (!chunk.choices[0]?.delta.content) continue;
        pieces += 1;
        if (pieces === leaveAfter) stream.abort();
      }
      return toAnswer(await stream.finalChatCompletion(), pieces);
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
      return toAnswer(await client.chat.completions.create({ ...paramsOf(ask), messages }), 1);
    },
  };
}

export const chat: Sdk = {
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
