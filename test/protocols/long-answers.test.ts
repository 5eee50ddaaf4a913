/** Vendors' answers have longer lists than JavaScript lets a call have arguments (about 120,000). */
import { expect, it } from "vitest";
import { toEvents } from "../../src/protocols/canonical/collect.ts";
import { collectFrames } from "../../src/protocols/collect-frames.ts";
import {
  codecs,
  createRoute,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";

const length = 135_000;
/** Each of these pieces becomes three events. */
const third = length / 3;
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));
const framesOf = (chunks: readonly JsonObject[]) =>
  chunks.map((chunk) => ({ data: JSON.stringify(chunk) }));

const completed = (output: JsonObject[]): JsonObject => ({
  type: "response.completed",
  response: { id: "r", status: "completed", output },
});
const message = (content: JsonObject[]): JsonObject => ({ type: "message", content });
const text = { type: "output_text", text: "a" };
const startOf = (block: JsonObject): JsonObject[] => [
  { type: "message_start", message: { role: "assistant", content: [] } },
  { type: "content_block_start", index: 0, content_block: block },
];
const citation = { type: "web_search_result_location", url: "https://a" };
const ended: JsonObject[] = [
  { type: "message_delta", delta: { stop_reason: "end_turn" } },
  { type: "message_stop" },
];
const thoughtful = many(third, (at) => ({ text: "a", thought: at % 2 === 0 }));

const streams: readonly (readonly [ProtocolName, string, readonly JsonObject[]])[] = [
  ["responses", "parts of one message", [completed([message(many(third, () => text))])]],
  [
    "messages",
    "citations",
    [
      ...startOf({ type: "text", text: "a" }),
      ...many(length, () => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "citations_delta", citation },
      })),
      ...ended,
    ],
  ],
  [
    "generate_content",
    "parts",
    [{ candidates: [{ content: { parts: thoughtful }, finishReason: "STOP" }] }],
  ],
];

it.each(streams)("a %s stream may have very many %s", (protocol, _what, chunks) => {
  const collected = collectFrames(codecs[protocol], framesOf(chunks));
  expect(toEvents(collected!).length).toBeGreaterThan(third);
  expect(JSON.stringify(collected).length).toBeGreaterThan(length);
});

it("a converted stream may have very many citations after its text", () => {
  const route = createRoute({
    caller: codecs.messages,
    upstream: codecs.responses,
    body: { model: "m", max_tokens: 9, stream: true, messages: [{ role: "user", content: "x" }] },
    stream: true,
    requestedModel: "acme/x",
    model: "acme/x",
    upstreamModel: "x",
    maxOutputTokens: 1_000,
    inputEstimate: 1,
    id: "1",
    createdAt: 0,
  });
  const annotation = { type: "url_citation", url: "https://a" };
  const tap = route.tap();
  const place = { output_index: 0, content_index: 0 };
  const chunks = [
    { type: "response.output_text.delta", ...place, delta: "a" },
    { type: "response.output_text.done", ...place, text: "a" },
    ...many(length, () => ({
      type: "response.output_text.annotation.added",
      ...place,
      annotation,
    })),
    completed([]),
  ];
  for (const frame of framesOf(chunks)) tap.push(frame);
  expect(tap.release().length).toBeGreaterThan(length);
});

it.each<[string, JsonObject]>([
  ["parts", { content: many(length, () => ({ type: "text", text: "a" })) }],
  ["calls", { tool_calls: many(length, () => ({ function: { name: "f", arguments: "{}" } })) }],
])("a whole chat answer may have very many %s", (_what, said) => {
  const answer = { id: "a", choices: [{ index: 0, message: said, finish_reason: "stop" }] };
  expect(codecs.chat.decodeResponse(answer).content).toHaveLength(length);
});
