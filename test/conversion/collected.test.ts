/** Streams that are collected into whole answers, because the vendor streamed unasked: the same answer and charge as streamed. T15. */
import { expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import type { JsonObject } from "../../src/protocols/index.ts";
import { framesOf, sse } from "../protocols/chat/support.ts";
import { routeOf } from "./route.ts";

const asked = { model: "acme/x", messages: [{ role: "user", content: "Hi" }] };
const streamOf = (...chunks: (JsonObject | string)[]) => framesOf(sse(...chunks));
const choice = (index: number, content: string): JsonObject => ({
  id: "c",
  choices: [{ index, delta: { content } }],
});
const end = (index: number, finish_reason: string): JsonObject => ({
  id: "c",
  choices: [{ index, delta: {}, finish_reason }],
});

it("T15: a stream of which one of two choices broke off is no answer", () => {
  const route = routeOf("chat", "chat", { ...asked, n: 2 });
  const broken = streamOf(choice(0, "One"), choice(1, "Tw"), end(0, "stop"));
  expect(route.answerFromFrames(broken)).toBeUndefined();
  const whole = streamOf(choice(0, "One"), choice(1, "Two"), end(0, "stop"), end(1, "stop"));
  expect(route.answerFromFrames(whole)).toMatchObject({
    choices: [{ message: { content: "One" } }, { message: { content: "Two" } }],
  });
});

it.each(["abort", "network_error", "insufficient_system_resource"])(
  "T15: an interrupted choice keeps its finish reason %s on the direct route",
  (reason) => {
    const frames = streamOf(choice(0, "Half"), end(0, reason), "[DONE]");
    expect(routeOf("chat", "chat", asked).answerFromFrames(frames)).toMatchObject({
      choices: [{ message: { content: "Half" }, finish_reason: reason }],
    });
  },
);

it("T15: calls of the vendor's servers stay in it, and so does what stands beside the caller's", () => {
  const call = (id: string, index: number): JsonObject => ({
    id,
    type: "function",
    function: { name: "f", arguments: "{}" },
    provider_specific_fields: { place: index },
  });
  const calls = ["srvtoolu_1", "call_2"].map(call);
  const chunks = calls.map((said, index) => ({
    id: "c",
    choices: [{ index: 0, delta: { tool_calls: [{ ...said, index }] } }],
  }));
  const frames = streamOf(...chunks, end(0, "tool_calls"), "[DONE]");
  expect(routeOf("chat", "chat", asked).answerFromFrames(frames)).toMatchObject({
    choices: [{ message: { tool_calls: calls } }],
  });
});

it.each<[JsonObject | string, string, string, JsonObject]>([
  // OpenAI itself says so of a call that the caller named.
  [{ type: "function", function: { name: "f" } }, "call_1", "stop", { finish_reason: "stop" }],
  // A search that Claude's server made, as LiteLLM lists it.
  ["auto", "srvtoolu_1", "stop", { finish_reason: "stop" }],
  ["auto", "call_1", "STOP", { finish_reason: "tool_calls", native_finish_reason: "STOP" }],
])(
  "T11 T15: a choice has the same finish reason as in the vendor's stream: %j, %s, %s",
  (tool_choice, id, said, told) => {
    const call = { index: 0, id, type: "function", function: { name: "f", arguments: "{}" } };
    const chunk = {
      id: "c",
      choices: [{ index: 0, delta: { content: null, tool_calls: [call] } }],
    };
    const frames = streamOf(chunk, end(0, said), "[DONE]");
    const route = routeOf("chat", "chat", { ...asked, tool_choice });
    const { choices } = route.answer(route.answerFromFrames(frames)!, [], noUsage);
    expect(choices).toMatchObject([told]);
    const tap = routeOf("chat", "chat", { ...asked, tool_choice, stream: true }).tap();
    const streamed = [...frames.flatMap((frame) => tap.push(frame)), ...tap.release()];
    expect(streamed.at(-2)?.data).toContain(JSON.stringify(told).slice(1, -1));
  },
);

it("T15: nothing after the end marker is part of the answer", () => {
  const frames = streamOf(choice(0, "All"), end(0, "stop"), "[DONE]", choice(0, " late"));
  const route = routeOf("chat", "chat", asked);
  expect(route.answerFromFrames(frames)).toMatchObject({
    choices: [{ message: { content: "All" } }],
  });
  const tap = route.tap();
  for (const frame of frames) tap.push(frame);
  expect(tap.seen.text).toBe("All");
});

it("T3: arguments that a vendor writes as an object keep all digits in a direct chat stream, also if it is collected", () => {
  const id = "9223372036854775807";
  const called = `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":{"id":${id}}}}]}}]}`;
  const frames = streamOf(called, end(0, "tool_calls"), "[DONE]");
  const route = routeOf("chat", "chat", asked);
  expect(route.answerFromFrames(frames)).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { arguments: `{"id":${id}}` } }] } }],
  });
  expect(route.tap().push(frames[0]!)[0]!.data).toContain(JSON.stringify(`{"id":${id}}`));
});

const usage = { input_tokens: 10, output_tokens: 1 };
const search = { type: "web_search_call", id: "w", status: "completed" };
const message = { type: "message", content: [{ type: "output_text", text: "Hi" }] };
const made = { image_gen: { input_tokens: 5, output_tokens: 9 } };

it.each<["chat" | "responses", readonly JsonObject[], object]>([
  [
    "chat",
    [
      choice(0, "Hi"),
      end(0, "stop"),
      {
        id: "c",
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 1,
          server_tool_use: { web_search_requests: 3 },
        },
      },
    ],
    { webSearches: 3 },
  ],
  [
    "responses",
    [
      { type: "response.created", response: { id: "r", output: [] } },
      {
        type: "response.completed",
        response: { id: "r", output: [search, message], tool_usage: made, usage },
      },
    ],
    { webSearches: 1, imageToolTextTokens: 5, imageToolOutputTokens: 9 },
  ],
])(
  "T15: the searches and pictures of a %s stream are charged if a converted whole answer is collected",
  (upstream, chunks, counts) => {
    const frames = streamOf(...chunks);
    const route = routeOf("messages", upstream, { ...asked, max_tokens: 9 });
    const answer = route.answerFromFrames(frames)!;
    expect(route.usage(answer)).toMatchObject({ inputTokens: 10, outputTokens: 1, ...counts });
    const tap = route.tap();
    for (const frame of frames) tap.push(frame);
    expect(route.usage(answer)).toEqual(tap.seen.usage);
    // Not for another answer.
    expect(route.usage({ ...answer })?.webSearches).toBeUndefined();
  },
);

it("T15: a collected answer of Gemini keeps what earlier frames say of its sources, and is charged as streamed", () => {
  const frame = (text: string, groundingMetadata: JsonObject, more: JsonObject = {}) => ({
    candidates: [
      { index: 0, content: { role: "model", parts: [{ text }] }, groundingMetadata, ...more },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 },
  });
  const maps = { maps: { uri: "https://maps.google.com/?cid=1", title: "A" } };
  const frames = streamOf(
    frame("A", { webSearchQueries: ["a", "b"], googleMapsWidgetContextToken: "widget" }),
    frame("B", { webSearchQueries: ["b", "c"], groundingChunks: [maps] }),
    frame("", { webSearchQueries: [], groundingChunks: [] }),
    frame("", {}, { finishReason: "STOP" }),
  );
  const contents = [{ role: "user", parts: [{ text: "Where?" }] }];
  const route = routeOf("generate_content", "generate_content", { contents });
  const answer = route.answerFromFrames(frames)!;
  expect(answer["candidates"]).toMatchObject([
    {
      content: { parts: [{ text: "AB" }] },
      groundingMetadata: {
        webSearchQueries: ["a", "b", "c"],
        googleMapsWidgetContextToken: "widget",
        groundingChunks: [maps],
      },
    },
  ]);
  const tap = route.tap();
  for (const one of frames) tap.push(one);
  expect(route.usage(answer)).toMatchObject({ mapSearches: 3 });
  expect(route.usage(answer)).toEqual(tap.seen.usage);
});

it("T15: a file that a streamed answer cites keeps its id if a converted whole answer is collected", () => {
  const citation = {
    type: "char_location",
    cited_text: "Seven.",
    document_index: 2,
    document_title: "report.pdf",
    file_id: "file_1",
    start_char_index: 0,
    end_char_index: 6,
  };
  const frames = streamOf(
    { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 3 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "It is 7." } },
    { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } },
    { type: "message_stop" },
  );
  const route = routeOf("responses", "messages", { model: "acme/x", input: "Hi" });
  const answer = route.answer(route.answerFromFrames(frames)!, [], noUsage);
  const file = { type: "file_citation", file_id: "file_1", filename: "report.pdf", index: 2 };
  expect(answer["output"]).toMatchObject([
    { content: [{ text: "It is 7.", annotations: [file] }] },
  ]);
});

it("T15: the items of a responses stream that only end in another order keep their own", () => {
  const called = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const done = (output_index: number, item: JsonObject): JsonObject => ({
    type: "response.output_item.done",
    output_index,
    item,
  });
  const frames = streamOf(done(1, called), done(0, message), {
    type: "response.completed",
    response: { id: "r", status: "completed", output: [] },
  });
  const route = routeOf("responses", "responses", { model: "acme/x", input: "Hi" });
  expect(route.answerFromFrames(frames)!["output"]).toEqual([message, called]);
});

it("T15: a message that a vendor repeats beside its deltas is not taken as a further piece", () => {
  const chunk = (
    delta: string,
    soFar: string,
    finish_reason: string | null = null,
  ): JsonObject => ({
    id: "c",
    choices: [
      {
        index: 0,
        delta: { role: "assistant", content: delta },
        message: { role: "assistant", content: soFar },
        finish_reason,
      },
    ],
  });
  const frames = streamOf(chunk("One", "One"), chunk(" two", "One two", "stop"), "[DONE]");
  const { choices } = routeOf("chat", "chat", asked).answerFromFrames(frames)!;
  expect(choices).toMatchObject([{ message: { content: "One two" }, finish_reason: "stop" }]);
  const whole = { role: "assistant", content: "All", audio: { id: "a" } };
  const only = streamOf({
    id: "c",
    choices: [{ index: 0, message: whole, finish_reason: "stop" }],
  });
  expect(routeOf("chat", "chat", asked).answerFromFrames(only)).toMatchObject({
    choices: [{ message: whole }],
  });
});

it("T15: a call of the deprecated functions stays one in a collected direct answer", () => {
  const piece = (members: JsonObject): JsonObject => ({
    id: "c",
    choices: [{ index: 0, delta: { function_call: members } }],
  });
  const frames = streamOf(
    piece({ name: "f", arguments: '{"x"' }),
    piece({ arguments: ":1}" }),
    end(0, "function_call"),
    "[DONE]",
  );
  const { choices } = routeOf("chat", "chat", asked).answerFromFrames(frames)!;
  const function_call = { name: "f", arguments: '{"x":1}' };
  expect(choices).toMatchObject([{ message: { function_call }, finish_reason: "function_call" }]);
  expect(JSON.stringify(choices)).not.toContain("tool_calls");
});

it("T15 T38: calls of a collected direct chat stream keep the vendor's members, such as Google's signatures", () => {
  const extra = (signature: string): JsonObject => ({
    extra_content: { google: { thought_signature: signature } },
  });
  const piece = (index: number, more: JsonObject): JsonObject => ({
    id: "c",
    choices: [{ index: 0, delta: { tool_calls: [{ index, ...more }] } }],
  });
  const begun = (id: string): JsonObject => ({
    id,
    type: "function",
    function: { name: "f", arguments: "" },
  });
  const frames = streamOf(
    piece(0, { ...begun("a"), ...extra("c2ln") }),
    piece(0, { function: { arguments: '{"x":1}' } }),
    piece(1, begun("b")),
    piece(1, { function: { arguments: "{}" }, ...extra("bm8=") }),
    end(0, "tool_calls"),
    "[DONE]",
  );
  expect(routeOf("chat", "chat", asked).answerFromFrames(frames)).toMatchObject({
    choices: [
      {
        message: {
          tool_calls: [
            { id: "a", function: { name: "f", arguments: '{"x":1}' }, ...extra("c2ln") },
            { id: "b", function: { name: "f", arguments: "{}" }, ...extra("bm8=") },
          ],
        },
      },
    ],
  });
});
