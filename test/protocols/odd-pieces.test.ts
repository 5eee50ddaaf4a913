/** Unusual pieces of requests and answers: ends without a beginning, empty texts, missing members. CONV. */
import { describe, expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import type { WireObject } from "../../src/base/json.ts";
import { collect } from "../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../src/protocols/canonical/events.ts";
import type { MediaSource } from "../../src/protocols/canonical/request.ts";
import { mergeDetails } from "../../src/protocols/chat/reasoning.ts";
import { decodeStream as decodeConverse } from "../../src/protocols/converse/decode-stream.ts";
import { encodeResponse } from "../../src/protocols/converse/response.ts";
import { toVendorSchema } from "../../src/protocols/generate-content/schema.ts";
import {
  codecs,
  createRoute,
  embeddingRoute,
  upstreamCodecs,
  type JsonObject,
  type ProtocolName,
} from "../../src/protocols/index.ts";
import { MessagesReader } from "../../src/protocols/messages/read-stream.ts";
import { completeResponse } from "../../src/protocols/responses/response-object.ts";
import { costMs } from "../support/cost.ts";
import { grammarFaults } from "../support/grammar.ts";
import { answerContext, decodeAll, encodeAll } from "./canonical/support.ts";

/** The body that an upstream of one protocol receives for a request of another. */
function sent(caller: ProtocolName, upstream: ProtocolName, body: JsonObject) {
  const route = createRoute({
    caller: codecs[caller],
    upstream: codecs[upstream],
    body,
    stream: false,
    requestedModel: "m",
    model: "m",
    upstreamModel: "up",
    maxOutputTokens: 64_000,
    abilities: {},
    inputMedia: 0,
    inputEstimate: 1,
    id: "id",
    createdAt: 0,
  });
  return { body: route.body, notes: route.notes };
}

it("the end of a block that never began adds nothing", () => {
  const events: CanonicalEvent[] = [
    { type: "start", protocol: "messages", id: "1", createdAt: 0 },
    { type: "reasoning_end", block: "9", signature: { protocol: "messages", value: "s" } } as never,
    { type: "finish", finish: { reason: "stop", raw: undefined } },
  ];
  expect(collect(events).content).toEqual([]);
});

it("too many reasoning details are refused before they are compared with each other", async () => {
  const pieces = Array.from({ length: 200_000 }, (_, index) => ({ type: "reasoning.text", index }));
  // Comparing each with each other would take 20,000,000,000 steps, and the process would serve no other call.
  const refused = () => expect(() => mergeDetails([], pieces)).toThrow(/too many reasoning/);
  expect(await costMs(refused)).toBeLessThan(2_000);
});

it("fifty thousand calls of a responses stream are matched with its last event in seconds", async () => {
  const count = 50_000;
  const item = (index: number) => ({ type: "function_call", call_id: `c${index}` });
  const all = Array.from({ length: count }, (_, index) => item(index));
  const frames = [
    ...all.map((one, index) => ({
      type: "response.output_item.added",
      output_index: index,
      item: { ...one, name: "f", arguments: "" },
    })),
    {
      type: "response.completed",
      response: {
        id: "r",
        status: "completed",
        output: all.map((one) => ({ ...one, arguments: "{}" })),
      },
    },
  ].map((frame) => ({ event: frame.type, data: JSON.stringify(frame) }));
  const cost = await costMs(() => {
    const decoder = codecs.responses.decodeStream();
    for (const frame of frames) decoder.push(frame);
  });
  expect(cost).toBeLessThan(6_000);
});

it("a later reasoning detail without a value keeps the earlier value", () => {
  const gathered: JsonObject[] = [];
  mergeDetails(gathered, [
    { type: "reasoning.text", index: 0, text: "a", signature: "s", id: "1" },
  ]);
  mergeDetails(gathered, [{ type: "reasoning.text", index: 0, text: "b", signature: null }]);
  mergeDetails(gathered, [{ type: "reasoning.text", index: 0, signature: undefined }]);
  expect(gathered).toEqual([
    { type: "reasoning.text", index: 0, text: "ab", signature: "s", id: "1" },
  ]);
});

describe("the Converse codec", () => {
  it("starts the answer at an unknown event, and adds nothing to it", () => {
    const decoder = decodeConverse();
    const types = (event: string) => decoder.push({ event, data: "{}" }).map(({ type }) => type);
    expect([types("somethingNew"), types("somethingNew")]).toEqual([["start"], []]);
  });

  it("writes Converse's own stop reason unchanged, and translates others", () => {
    const stop = (raw: string | undefined) =>
      encodeResponse({
        content: [],
        finish: { reason: "content_filter", raw },
      } as never)["stopReason"];
    expect([stop("guardrail_intervened"), stop("refusal"), stop(undefined)]).toEqual([
      "guardrail_intervened",
      "content_filtered",
      "content_filtered",
    ]);
  });
});

describe("the schema writer for Google", () => {
  it("takes the last of contradictory allOf parts; only lists of required names are joined", () => {
    expect(
      toVendorSchema({
        allOf: [
          { type: "string", enum: ["a"], required: ["x"] },
          { type: "string", enum: ["b"], required: ["y"], minLength: 2 },
        ],
      }),
    ).toMatchObject({ type: "string", enum: ["b"], required: ["x", "y"], minLength: 2 });
  });
});

describe("the messages codec", () => {
  it("reads the type from the event line if the data has none", () => {
    const read = (event: string | undefined, data: object) =>
      new MessagesReader().read({ ...(event && { event }), data: JSON.stringify(data) }).type;
    const start = { message: { id: "msg_1", usage: {} } };
    expect(read("message_start", start)).toBe(read(undefined, { type: "message_start", ...start }));
    expect(read(undefined, start)).not.toBe(read("message_start", start));
  });

  it("ignores an empty piece of text", () => {
    const frames = [
      { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ].map((data) => ({ event: data.type, data: JSON.stringify(data) }));
    const events = decodeAll(codecs.messages, frames);
    expect(events.filter(({ type }) => type === "text_delta")).toHaveLength(1);
    expect(collect(events).content).toMatchObject([{ type: "text", text: "Hi" }]);
  });

  it("reads a request without thinking as one without reasoning", () => {
    const plain = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
    expect(codecs.messages.decodeRequest(plain, { model: "m" } as never)).not.toHaveProperty(
      "reasoning",
    );
  });
});

describe("the responses codec", () => {
  it("reads an item once that comes both in pieces and whole", () => {
    const at = { output_index: 0, content_index: 0, item_id: "msg_1" };
    const item = {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "Hi" }],
    };
    const response = (status: string) => ({ id: "r", created_at: 1, status, output: [] });
    const frames = [
      { type: "response.created", response: response("in_progress") },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_text.delta", ...at, delta: "Hi" },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.output_item.added", output_index: 1, item: { ...item, content: [] } },
      {
        type: "response.output_item.done",
        output_index: 1,
        item: { ...item, content: [{ type: "output_text", text: "" }] },
      },
      { type: "response.completed", response: response("completed") },
    ].map((data) => ({ event: data.type, data: JSON.stringify(data) }));
    const events = decodeAll(codecs.responses, frames);
    expect(collect(events).content).toMatchObject([{ type: "text", text: "Hi" }]);
    expect(events.filter(({ type }) => type === "text_start")).toHaveLength(1);
  });

  it("writes a total as the sum of two numbers, and keeps it if one is missing", () => {
    const total = (usage: JsonObject) =>
      (completeResponse({ output: [], usage }, "m")["usage"] as JsonObject)["total_tokens"];
    expect([
      total({ input_tokens: 2, output_tokens: 3, total_tokens: 9 }),
      total({ output_tokens: 3, total_tokens: 9 }),
      total({ input_tokens: 2, total_tokens: 9 }),
    ]).toEqual([5, 9, 9]);
  });
});

/** The canonical answer of a whole body, and of a stream's frames. */
const wholeOf = (protocol: ProtocolName, body: object) =>
  codecs[protocol].decodeResponse(body as JsonObject);
const streamOf = (protocol: ProtocolName, ...data: WireObject[]) =>
  collect(
    decodeAll(
      codecs[protocol],
      data.map((one) => ({ event: one["type"] as string, data: JSON.stringify(one) })),
    ),
  );

it.each([-5, 0.5, 1e300, "5"])(
  "T51: %j is not accepted as a count, in Converse and embeddings",
  (count) => {
    const usage = { inputTokens: count, outputTokens: 5 };
    expect(upstreamCodecs.converse.direct.usage({ usage })).toBeUndefined();
    const route = embeddingRoute({ body: { input: "Hi" }, model: "m", upstreamModel: "up" });
    expect(route.usage({ usage: { prompt_tokens: count } })).toBeUndefined();
    expect(route.usage({ usage: { total_tokens: 3 } })).toMatchObject({ inputTokens: 3 });
    const told = route.answer({ usage: { prompt_tokens: count } }, [], {
      ...noUsage,
      inputTokens: 4,
    });
    expect(told["usage"]).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  },
);

describe("calls without ids", () => {
  const calls = [{ name: "look" }, { name: "look", id: null, call_id: null }, { name: null }];
  const messages = calls.map((call) => ({ ...call, type: "tool_use", input: {} }));
  const responses = calls.map((call) => ({ ...call, type: "function_call", arguments: "{}" }));
  const end = { type: "message_delta", delta: { stop_reason: "tool_use" } };

  it.each([
    ["messages", () => wholeOf("messages", { content: messages })],
    [
      "streamed messages",
      () =>
        streamOf(
          "messages",
          { type: "message_start", message: {} },
          ...messages.flatMap((content_block, index) => [
            { type: "content_block_start", index, content_block },
            { type: "content_block_stop", index },
          ]),
          end,
        ),
    ],
    ["responses", () => wholeOf("responses", { status: "completed", output: responses })],
    [
      "streamed responses",
      () =>
        streamOf(
          "responses",
          ...responses.map((item, output_index) => ({
            type: "response.output_item.done",
            output_index,
            item,
          })),
          { type: "response.completed", response: { status: "completed" } },
        ),
    ],
    [
      "converse",
      () =>
        upstreamCodecs.converse.decodeResponse({
          output: { message: { content: calls.map(({ name }) => ({ toolUse: { name } })) } },
        }),
    ],
  ] as const)("T21: get ids that no other answer has: %s", (_where, read) => {
    const parts = [...read().content, ...read().content];
    const ids = parts.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
    expect(new Set(ids).size).toBe(6);
    for (const id of ids) expect(id).toMatch(/^call_\w{8,}_\d$/);
    expect(parts[2]).toMatchObject({ name: "" });
  });

  it("T6: in items without an index are matched by item ids", () => {
    const items = ["a", "b"].map((id) => ({ type: "function_call", id, call_id: id, name: id }));
    const { content } = streamOf(
      "responses",
      ...items.map((item) => ({ type: "response.output_item.added", item })),
      ...items.map(({ id }) => ({
        type: "response.function_call_arguments.delta",
        item_id: id,
        delta: `{"of":"${id}"}`,
      })),
      { type: "response.completed", response: { status: "completed" } },
    );
    expect(content).toMatchObject([
      { id: "a", arguments: '{"of":"a"}' },
      { id: "b", arguments: '{"of":"b"}' },
    ]);
  });
});

it.each(["constructor", "__proto__", "toString"])(
  "%s is handled as an unknown finish reason and an unknown effort",
  (word) => {
    const finishes = [
      wholeOf("chat", { choices: [{ message: { content: "Hi" }, finish_reason: word }] }),
      wholeOf("messages", { content: [], stop_reason: word }),
      wholeOf("generate_content", {
        candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: word }],
      }),
    ].map(({ finish }) => finish);
    for (const finish of finishes) expect(finish).toEqual({ reason: "stop", raw: word });
    for (const codec of [codecs.messages, codecs.generate_content]) {
      const answer = { protocol: "chat", id: "", createdAt: 0, content: [], finish: finishes[0]! };
      const context = { model: "m", id: "1", createdAt: 0, inputEstimate: 0 } as never;
      expect(JSON.stringify(codec.encodeResponse(answer as never, context))).not.toContain(word);
    }
    const { body } = sent("chat", "generate_content", {
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      reasoning_effort: word,
    });
    expect(body["generationConfig"]).toEqual({
      thinkingConfig: { thinkingLevel: word.toUpperCase() },
    });
  },
);

describe("pictures in streams", () => {
  const data = "iVBORw0KGgo=";
  const picture = { mediaType: "image/png", data };
  const url = `data:image/png;base64,${data}`;
  const finish = { type: "finish", finish: { reason: "stop" } } as const;
  const media = (source: MediaSource) =>
    ({ type: "media", part: { type: "media", media: "image", source } }) as const;
  const base64 = media({ kind: "base64", ...picture });
  const start = { type: "start", protocol: "chat", id: "1", createdAt: 0 } as const;
  const words: CanonicalEvent[] = [
    { type: "text_start", block: "t" },
    { type: "text_delta", block: "t", text: "See:" },
    { type: "text_end", block: "t" },
  ];

  it.each(["chat", "responses", "generate_content"] as const)(
    "are written and read between texts in %s",
    (protocol) => {
      const frames = encodeAll(codecs[protocol], [start, ...words, base64, finish], answerContext);
      const events = decodeAll(codecs[protocol], frames);
      expect(grammarFaults(events)).toEqual([]);
      expect(collect(events).content).toEqual([{ type: "text", text: "See:" }, base64.part]);
    },
  );

  it("reach callers of chat completions and responses from Google", () => {
    const signed = { inlineData: { mimeType: "image/png", data }, thoughtSignature: "c2ln" };
    const frame = { candidates: [{ content: { parts: [signed] }, finishReason: "STOP" }] };
    const events = decodeAll(codecs.generate_content, [{ data: JSON.stringify(frame) }]);
    expect(events.map(({ type }) => type)).toEqual([
      "start",
      "reasoning_start",
      "reasoning_end",
      "media",
      "finish",
    ]);
    const text = (protocol: ProtocolName) =>
      encodeAll(codecs[protocol], events, answerContext)
        .map((one) => one.data)
        .join("\n");
    expect(text("chat")).toContain(`"images":[{"type":"image_url","image_url":{"url":"${url}"}}]`);
    expect(text("responses")).toContain('"type":"image_generation_call"');
    expect(text("responses")).toContain(`"result":"${data}"`);
  });

  it("become text of a response if they are links, as in a whole answer", () => {
    const link = media({ kind: "url", url: "https://example.com/a.png" });
    const frames = encodeAll(codecs.responses, [start, link, finish], answerContext);
    const { content } = collect(decodeAll(codecs.responses, frames));
    expect(content).toEqual([{ type: "text", text: "![](https://example.com/a.png)" }]);
  });
});

describe("an output schema that is sent to Google", () => {
  const schemaFor = (format: JsonObject) => {
    const body = {
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      response_format: { type: "json_schema", json_schema: { name: "answer", ...format } },
    };
    const config = sent("chat", "generate_content", body).body["generationConfig"];
    return (config as { responseJsonSchema: JsonObject }).responseJsonSchema;
  };
  const schema = { type: "object", description: "Its own.", properties: {} };

  it("keeps its own description, with the format's description in front if there is one", () => {
    expect(schemaFor({ schema })["description"]).toBe("Its own.");
    expect(schemaFor({ schema, description: "A menu." })["description"]).toBe(
      "A menu.\n\nIts own.",
    );
  });
});
