/** `@anthropic-ai/sdk` at `/v1/messages`. Requirements: TXT; docs/decisions.md "Key carriers". */
import Anthropic from "@anthropic-ai/sdk";
import type {
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources";
import { expect } from "vitest";
import type { Ask, Connection, Sdk, Told } from "./scenarios.ts";

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

function toAnswer(message: Message, pieces: number): Told {
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
    ask: async (ask) => toAnswer(await client.messages.create(paramsOf(ask)), 1),
    async stream(ask, leaveAfter = Infinity) {
      const stream = client.messages.stream(paramsOf(ask));
      let pieces = 0;
      for await (const event of stream) {
        if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
        pieces += 1;
        if (pieces === leaveAfter) stream.abort();
      }
      return toAnswer(await stream.finalMessage(), pieces);
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
      return toAnswer(await client.messages.create({ ...paramsOf(ask), messages }), 1);
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

export const messages: Sdk = {
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
