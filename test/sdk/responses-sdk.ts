/** The `openai` SDK at `/v1/responses`. Requirements: RESP, ERR. */
import OpenAI from "openai";
import type { Response, ResponseInput } from "openai/resources/responses/responses";
import { openaiFields, openaiFailures } from "./openai-support.ts";
import type { Ask, Connection, Sdk, Told } from "./scenarios.ts";

function inputOf({ text, picture }: Ask): ResponseInput {
  if (!picture) return [{ role: "user", content: text }];
  const image_url = `data:image/png;base64,${picture.toString("base64")}`;
  const image = { type: "input_image", image_url, detail: "auto" } as const;
  return [{ role: "user", content: [{ type: "input_text", text }, image] }];
}

const paramsOf = (ask: Ask) => ({
  model: ask.model ?? "sandbox/responses",
  input: inputOf(ask),
  ...(ask.system !== undefined && { instructions: ask.system }),
  ...(ask.temperature !== undefined && { temperature: ask.temperature }),
  ...(ask.reasons && { reasoning: { effort: "high" as const, summary: "auto" as const } }),
  ...(ask.tools && {
    tools: ask.tools.map((tool) => ({ type: "function" as const, strict: false, ...tool })),
  }),
});

function toAnswer(response: Response, pieces: number): Told {
  const calls = response.output.filter((item) => item.type === "function_call");
  return {
    text: response.output_text,
    calls: calls.map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) })),
    finish: response.status,
    model: response.model,
    usage: response.usage,
    pieces,
    turn: response.output,
  };
}

/** The SDK passes a `response.failed` on as an event; a program has to check for it. */
class ResponseFailedError extends Error {
  readonly failure: Response["error"];

  constructor(failure: Response["error"]) {
    super(failure?.message);
    this.failure = failure;
  }
}

function connect({ url, key, retries, fetch }: Parameters<Sdk["connect"]>[0]): Connection {
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${url}/v1`,
    ...(retries ? {} : { maxRetries: 0 }),
    ...(fetch && { fetch }),
  });
  return {
    ask: async (ask) => toAnswer(await client.responses.create(paramsOf(ask)), 1),
    async stream(ask, leaveAfter = Infinity) {
      const stream = client.responses.stream(paramsOf(ask));
      let pieces = 0;
      for await (const event of stream) {
        if (event.type === "response.failed") throw new ResponseFailedError(event.response.error);
        if (event.type !== "response.output_text.delta") continue;
        pieces += 1;
        if (pieces === leaveAfter) stream.abort();
      }
      return toAnswer(await stream.finalResponse(), pieces);
    },
    async answer(ask, told, results) {
      const turn = told.turn as Response["output"];
      const calls = turn.filter((item) => item.type === "function_call");
      const input: ResponseInput = [
        ...inputOf(ask),
        ...(turn as ResponseInput),
        ...calls.map((call, at) => ({
          type: "function_call_output" as const,
          call_id: call.call_id,
          output: results[at]!,
        })),
      ];
      return toAnswer(await client.responses.create({ ...paramsOf(ask), input }), 1);
    },
  };
}

export const responses: Sdk = {
  model: "sandbox/responses",
  connect,
  // The protocol has no separate finish reason for tool calls.
  finish: { stop: "completed", tools: "completed" },
  usage: (input) => ({
    input_tokens: input,
    output_tokens: 45,
    total_tokens: input + 45,
    input_tokens_details: { cached_tokens: 30 },
    output_tokens_details: { reasoning_tokens: 12 },
  }),
  system: (instructions) => ({ instructions, input: [{ role: "user" }] }),
  picture: (base64) => ({
    input: [
      { content: [{ type: "input_text" }, { image_url: `data:image/png;base64,${base64}` }] },
    ],
  }),
  failures: {
    ...openaiFailures,
    "broken stream": { class: "ResponseFailedError", failure: { code: "server_error" } },
  },
  fields: openaiFields,
};
