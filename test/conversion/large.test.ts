/** Long conversations: the cost of their conversion is linear in their length. */
import { describe, expect, it } from "vitest";
import {
  codecs,
  createRoute,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { costMs } from "../support/cost.ts";
import { shortOrLong } from "../support/long.ts";

const count = shortOrLong(40_000, 80_000);
/** A linear search for each result would cost at least nearly twice this. The conversion costs a quarter or a tenth of this. */
const costMsMax = shortOrLong(1_500, 5_000);
const many = (make: (index: number) => JsonObject): JsonObject[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Tools of which the caller allows some, in another order. */
const allowsSome: JsonObject = {
  contents: [{ parts: [{ text: "x" }] }],
  tools: [{ functionDeclarations: many((index) => ({ name: `tool_${index}` })) }],
  toolConfig: {
    functionCallingConfig: {
      mode: "ANY",
      allowedFunctionNames: Array.from(
        { length: count },
        (_, index) => `tool_${1.5 * count - index}`,
      ),
    },
  },
};

const conversations: readonly (readonly [string, ProtocolName, UpstreamProtocol, JsonObject])[] = [
  [
    "results in the reverse order of their calls",
    "chat",
    "messages",
    {
      model: "acme/chat",
      messages: [
        {
          role: "assistant",
          tool_calls: many((index) => ({
            id: `c${index}`,
            type: "function",
            function: { name: "f", arguments: "{}" },
          })),
        },
        ...many((index) => ({
          role: "tool",
          tool_call_id: `c${count - 1 - index}`,
          content: "x",
        })),
      ],
    },
  ],
  [
    "calls and results that do not match, without ids",
    "chat",
    "responses",
    {
      model: "acme/chat",
      messages: [
        ...many(() => ({
          role: "assistant",
          content: null,
          function_call: { name: "a", arguments: "{}" },
        })),
        ...many(() => ({ role: "function", name: "b", content: "x" })),
      ],
    },
  ],
  [
    "items of one turn",
    "responses",
    "chat",
    {
      model: "acme/chat",
      input: [
        ...many((index) => ({
          type: "function_call",
          call_id: `c${index}`,
          name: "f",
          arguments: "{}",
        })),
        ...many((index) => ({
          type: "function_call_output",
          call_id: `c${index}`,
          output: "x",
        })),
      ],
    },
  ],
  [
    "function calls and responses that do not match",
    "generate_content",
    "messages",
    {
      contents: [
        { role: "model", parts: many(() => ({ functionCall: { name: "a" } })) },
        { role: "user", parts: many(() => ({ functionResponse: { name: "b", response: {} } })) },
      ],
    },
  ],
  [
    "messages of one role, each with a cache marker",
    "messages",
    "chat",
    {
      model: "acme/chat",
      max_tokens: 9,
      messages: many(() => ({
        role: "user",
        content: [{ type: "text", text: "x", cache_control: { type: "ephemeral" } }],
      })),
    },
  ],
  ["allowed tools", "generate_content", "messages", allowsSome],
  ["allowed tools, for Converse", "generate_content", "converse", allowsSome],
  [
    "allowed tools of a namespace",
    "responses",
    "chat",
    {
      model: "acme/chat",
      input: "x",
      tools: [
        {
          type: "namespace",
          name: "n",
          description: "About all.",
          tools: many((index) => ({ type: "function", name: `tool_${index}` })),
        },
      ],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: [
          ...many((index) => ({ type: "function", name: `other_${index}` })),
          { type: "function", namespace: "n", name: `tool_${count - 1}` },
        ],
      },
    },
  ],
  [
    "unknown fields",
    "chat",
    "messages",
    {
      model: "acme/chat",
      messages: [{ role: "user", content: "x" }],
      ...Object.fromEntries(many(() => ({})).map((value, index) => [`unknown_${index}`, value])),
    },
  ],
];

const callsAtOnce = 20_000;

/** Chunks of a chat stream that begins `callsAtOnce` calls, and then completes them in reverse order. */
function* interleavedCalls(): Generator<object> {
  const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  for (let index = 0; index < callsAtOnce; index += 1) {
    const call = { index, id: `c${index}`, function: { name: "f", arguments: "{" } };
    yield chunk({ tool_calls: [call] });
  }
  for (let index = callsAtOnce - 1; index >= 0; index -= 1)
    yield chunk({ tool_calls: [{ index, function: { arguments: "}" } }] });
  yield chunk({}, "tool_calls");
}

it.each(["messages", "responses"] as const)(
  `T6: ${callsAtOnce} simultaneous calls in a stream are converted in linear time, to %s`,
  async (to) => {
    const route = createRoute({
      caller: codecs[to],
      upstream: codecs.chat,
      body:
        to === "messages"
          ? { model: "m", max_tokens: 1, stream: true, messages: [{ role: "user", content: "x" }] }
          : { model: "m", stream: true, input: "x" },
      stream: true,
      requestedModel: "acme/chat",
      model: "acme/chat",
      upstreamModel: "talk",
      maxOutputTokens: 1000,
      inputEstimate: 1,
      id: "1",
      createdAt: 0,
    });
    const tap = route.tap();
    let frames = 0;
    const cost = await costMs(() => {
      for (const chunk of interleavedCalls())
        frames += tap.push({ data: JSON.stringify(chunk) }).length;
      frames += tap.push({ data: "[DONE]" }).length + tap.release().length;
    });
    expect(frames).toBeGreaterThan(callsAtOnce * 3);
    expect(cost).toBeLessThan(2_500);
  },
);

describe(`${count} items of a kind`, () => {
  it.each(conversations)("are converted in linear time: %s", async (_what, from, to, body) => {
    const request: Parameters<typeof createRoute>[0] = {
      caller: codecs[from],
      upstream: upstreamCodecs[to],
      body,
      stream: false,
      requestedModel: "acme/chat",
      model: "acme/chat",
      upstreamModel: "talk",
      maxOutputTokens: 1000,
      inputEstimate: 1,
      id: "1",
      createdAt: 0,
    };
    let kind: string | undefined;
    expect(await costMs(() => (kind = createRoute(request).kind))).toBeLessThan(costMsMax);
    expect(kind).toBe("converted");
  });
});
