/** Chunks of a direct chat stream that lack what clients require. TXT-10; T4, T5. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { chatCodec } from "../../../src/protocols/chat/index.ts";
import { dataOf, framesOf, sse, tapped } from "./support.ts";

const base = { id: "up1", object: "chat.completion.chunk", created: 17, model: "up" };
const call = (rest: JsonObject): JsonObject => ({
  ...base,
  choices: [{ index: 0, delta: { tool_calls: [rest] } }],
});
const end = { ...base, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };

/** The frames that the caller of a direct stream gets. */
function passed(...chunks: JsonObject[]): JsonObject[] {
  const { tap, passed: sent } = tapped(chatCodec.direct, framesOf(sse(...chunks, "[DONE]")));
  return dataOf([...sent, ...tap.release()]).filter((one): one is JsonObject => one !== "[DONE]");
}
const callsIn = (chunks: readonly JsonObject[]): unknown[] =>
  chunks.flatMap(
    ({ choices }) => (choices as [{ delta: JsonObject }])[0].delta["tool_calls"] ?? [],
  );

it("TXT-10 T4: calls without a number get one, and their first piece an id and a type", () => {
  const calls = callsIn(
    passed(
      call({ id: "a", type: "function", function: { name: "x", arguments: '{"p":' } }),
      call({ function: { arguments: "1}" } }),
      call({ id: "b", function: { name: "y", arguments: "{}" } }),
      call({ id: "a", function: { arguments: "" } }),
      call({ type: "", id: "", function: { name: "z", arguments: "{}" } }),
      end,
    ),
  );
  expect(calls).toEqual([
    { index: 0, id: "a", type: "function", function: { name: "x", arguments: '{"p":' } },
    { index: 0, function: { arguments: "1}" } },
    { index: 1, id: "b", type: "function", function: { name: "y", arguments: "{}" } },
    { index: 0, id: "a", function: { arguments: "" } },
    {
      index: 2,
      id: expect.stringMatching(/./) as string,
      type: "function",
      function: { name: "z", arguments: "{}" },
    },
  ]);
});

it("TXT-10: calls without ids get ids that differ between the choices of an answer", () => {
  const calls = callsIn(
    passed(
      ...[0, 1].map((index) => ({
        ...base,
        choices: [{ index, delta: { tool_calls: [{ function: { name: "x", arguments: "{}" } }] } }],
      })),
    ),
  );
  expect(calls).toMatchObject([{ id: "call_up1_0" }, { id: "call_up1_1_0" }]);
});

it("TXT-10 T4: a piece without a number goes on with the call before it, which had one", () => {
  const first = { index: 0, id: "a", type: "function", function: { name: "x", arguments: "" } };
  const second = { ...first, index: 1, id: "b" };
  const piece = { function: { arguments: "{}" } };
  expect(callsIn(passed(call(first), call(second), call(piece), end))).toEqual([
    first,
    second,
    { ...piece, index: 1 },
  ]);
});

it("TXT-10: an empty list of calls, as vLLM writes it beside each text, is left out: VS Code shows no text beside it", () => {
  const said = (content: string): JsonObject => ({
    ...base,
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
  });
  const beside = (chunk: JsonObject): JsonObject => ({
    ...chunk,
    choices: (chunk["choices"] as { delta: JsonObject }[]).map((choice) => ({
      ...choice,
      delta: { ...choice.delta, tool_calls: [] },
    })),
  });
  const chunks = [said("Hi"), said(" there"), { ...end, usage: null }];
  expect(passed(...chunks.map(beside))).toEqual(passed(...chunks));
});

it.each([
  ["auto", "tool_calls"],
  ["required", "tool_calls"],
  // OpenAI itself says so.
  [{ type: "function", function: { name: "x" } }, "stop"],
])("T11: calls end with the reason for calls, as agents' loops require: %j, %s", (choice, told) => {
  const first = { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{}" } };
  const ends = (index: number) => ({
    ...base,
    choices: [{ index, delta: { role: "assistant" }, finish_reason: "stop" }],
  });
  const frames = framesOf(sse(call(first), ends(0), ends(1), "[DONE]"));
  const { tap, passed: sent } = tapped(chatCodec.direct, frames, { n: 2, tool_choice: choice });
  expect(dataOf([...sent, ...tap.release()]).slice(1, 3)).toMatchObject([
    { choices: [{ index: 0, finish_reason: told }] },
    { choices: [{ index: 1, finish_reason: "stop" }] },
  ]);
});

it("TXT-10: chunks without choices, number or delta get them, with exact numbers kept, and fields of earlier chunks", () => {
  const data = [
    '{"hook":"passed"}',
    '{"choices":[{"delta":{"content":"Hi"}}],"trace":12345678901234567890}',
    JSON.stringify({ ...base, choices: [{ index: 0, filters: {} }] }),
    '{"choices":[],"cost":"0"}',
  ];
  const { passed: sent } = tapped(
    chatCodec.direct,
    data.map((one) => ({ data: one })),
  );
  const model = "acme/talk";
  expect(dataOf(sent)).toEqual([
    { hook: "passed", choices: [], model },
    expect.objectContaining({
      choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }],
      model,
    }),
    { ...base, choices: [{ index: 0, filters: {}, delta: {} }], model },
    { ...base, choices: [], cost: "0", model },
  ]);
  expect(sent[1]!.data).toContain('"trace":12345678901234567890');
});

it("TXT-10: the first delta of each choice has a role", () => {
  const text = (index: number) => ({ ...base, choices: [{ index, delta: { content: "Hi" } }] });
  const sent = passed(text(0), text(1), text(0), end);
  const roles = sent.map(({ choices }) => (choices as [{ delta: JsonObject }])[0].delta["role"]);
  expect(roles.slice(0, 3)).toEqual(["assistant", "assistant", undefined]);
});

it("TXT-10: the frame of the usage has choices, even if the vendor's has none", () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const text = { ...base, choices: [{ index: 0, delta: { content: "Hi" } }] };
  const stop = { ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const { tap } = tapped(chatCodec.direct, framesOf(sse(text, stop, { usage }, "[DONE]")), {
    stream_options: { include_usage: true },
  });
  expect(dataOf(tap.release()).at(-2)).toEqual({ ...base, model: "acme/talk", choices: [], usage });
});

it("TXT-10: an empty role or finish reason is none, as clients with a closed list of words require", () => {
  const piece = (delta: JsonObject) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: "" }],
  });
  const first = { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{}" } };
  const sent = passed(
    piece({ role: "", content: "Hi" }),
    piece({ role: "", tool_calls: [first] }),
    end,
  );
  expect(sent).toMatchObject([
    { choices: [{ delta: { role: "assistant", content: "Hi" }, finish_reason: null }] },
    { choices: [{ delta: { tool_calls: [first] }, finish_reason: null }] },
    { choices: [{ finish_reason: "tool_calls" }] },
  ]);
  expect(JSON.stringify(sent)).not.toContain('"role":""');
});

it("TXT-10: a vendor's own finish reason gets the protocol's word, and stays beside it", () => {
  const stop = (finish: string) => ({
    ...base,
    choices: [{ index: 0, delta: { role: "assistant" }, finish_reason: finish }],
  });
  const [filtered] = passed(stop("sensitive"));
  expect(filtered).toMatchObject({
    choices: [{ finish_reason: "content_filter", native_finish_reason: "sensitive" }],
  });
  const [unknown] = passed(stop("of_its_own"));
  expect(unknown).toEqual({ ...stop("of_its_own"), model: "acme/talk" });
});

it("TXT-10 T4: numbers as ids of answers and calls become texts, in each piece", () => {
  const piece = (rest: JsonObject): JsonObject => ({ ...call(rest), id: 17 });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunks = passed(
    piece({ index: 0, id: 0, type: "function", function: { name: "x", arguments: "{" } }),
    piece({ index: 0, id: 0, function: { arguments: "}" } }),
    { ...end, id: 17 },
    { ...base, id: 17, choices: [], usage },
  );
  expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(["17"]));
  expect(callsIn(chunks.slice(0, 3))).toMatchObject([
    { index: 0, id: "0", type: "function", function: { name: "x" } },
    { index: 0, id: "0" },
  ]);
});

it("TXT-10 T9: calls are numbered from 0, by place, whatever else their vendor counts", () => {
  const begun = (index: number, id: string): JsonObject =>
    call({ index, id, type: "function", function: { name: "x", arguments: "" } });
  const more = (index: number): JsonObject => call({ index, function: { arguments: "{}" } });
  const numbers = (...chunks: JsonObject[]): unknown[] =>
    callsIn(passed(...chunks, end)).map((one) => (one as JsonObject)["index"]);
  expect(numbers(begun(1, "a"), more(1), begun(3, "b"), more(3), more(1))).toEqual([0, 0, 1, 1, 0]);
  expect(numbers(begun(0, "a"), begun(1, "b"), more(0), more(1))).toEqual([0, 1, 0, 1]);
});

it("TXT-10: chunks whose calls are in order pass as they came", () => {
  const two = { index: 1, id: "b", type: "function", function: { name: "y", arguments: "{}" } };
  const one = { ...two, index: 0, id: "a" };
  const delta = { role: "assistant", tool_calls: [one, two] };
  const written = JSON.stringify({ ...base, choices: [{ index: 0, delta }] });
  const text = written.replace('"delta":', '"delta" : ');
  const { passed: sent } = tapped(chatCodec.direct, framesOf(`data: ${text}\n\n`));
  expect(sent[0]!.data).toBe(text.replace('"up"', '"acme/talk"'));
});
it("TXT-10 T4: calls with a number also get an id, a type and arguments in their first piece", () => {
  const calls = callsIn(
    passed(
      call({ index: 0, id: "a", function: { name: "x", arguments: "{}" } }),
      call({ index: 1, id: "", type: "function", function: { name: "y" } }),
      call({ index: 1, function: { arguments: "{}" } }),
      end,
    ),
  );
  expect(calls).toEqual([
    { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{}" } },
    { index: 1, id: "call_up1_1", type: "function", function: { name: "y", arguments: "" } },
    { index: 1, function: { arguments: "{}" } },
  ]);
});

it("TXT-10: chunks have no service tier that is not OpenAI's", () => {
  const text = { ...base, choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }] };
  const stop = { ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const foreign = [text, stop, { ...base, choices: [], usage }].map((chunk) => ({
    ...chunk,
    service_tier: "on_demand",
  }));
  const { tap, passed: sent } = tapped(chatCodec.direct, framesOf(sse(...foreign, "[DONE]")), {
    stream_options: { include_usage: true },
  });
  const frames = [...sent, ...tap.release()];
  expect(frames).toHaveLength(4);
  expect(JSON.stringify(frames)).not.toContain("service_tier");
  expect(passed({ ...text, service_tier: "flex" }, stop)[0]).toHaveProperty("service_tier", "flex");
});

it.each([1_746_709_563.492141, 1_746_709_563_492, "1746709563"])(
  "TXT-10: the time %j of chunks is in whole seconds, as typed clients require",
  (created) => {
    const choices = [{ index: 0, delta: { role: "assistant", content: "Hi" } }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const chunks = [
      { ...base, created, choices },
      { ...end, created },
      { ...base, created, choices: [], usage },
    ];
    const { tap, passed: sent } = tapped(chatCodec.direct, framesOf(sse(...chunks)), {
      stream_options: { include_usage: true },
    });
    const told = dataOf([...sent, ...tap.release()]).slice(0, -1) as JsonObject[];
    expect(told.map((chunk) => chunk["created"])).toEqual([1, 2, 3].map(() => 1_746_709_563));
    expect(told[0]!["choices"]).toEqual(choices);
    expect(told[2]).toMatchObject({ usage });
  },
);

it.each([undefined, null, ""])(
  "TXT-10: chunks of a stream without any id have one of the gateway's, as MiniMax and OpenVINO send it: %j",
  (id) => {
    const text = {
      ...(id === undefined ? {} : { id }),
      choices: [{ index: 0, delta: { content: "Hi" } }],
    };
    const chunks = [
      { ...text, created: 17 },
      text,
      { ...text, choices: [{ index: 0, finish_reason: "stop" }] },
    ];
    const sent = passed(...chunks);
    const { model: _, ...fields } = { ...base, id: "chatcmpl-1", model: "acme/talk" };
    expect(sent).toMatchObject([fields, { ...fields, created: 5 }, { ...fields, created: 5 }]);
  },
);

it("TXT-10: deltas with a list of Mistral's thoughts and texts have texts", () => {
  const delta = (...content: JsonObject[]) => ({
    ...base,
    choices: [{ index: 0, delta: { content } }],
  });
  const thought = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };
  const stop = { ...base, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const sent = passed(delta(thought), delta({ type: "text", text: "Noon." }), delta(), stop);
  expect(sent.map(({ choices }) => (choices as [{ delta: JsonObject }])[0].delta)).toEqual([
    { role: "assistant", content: "", reasoning_content: "Hm." },
    { content: "Noon." },
    { content: "" },
    {},
  ]);
});

it.each([
  [
    "in one chunk",
    (calls: JsonObject[]) => [
      { ...base, choices: [{ index: 0, delta: { role: "assistant", tool_calls: calls } }] },
    ],
  ],
  ["in a chunk each", (calls: JsonObject[]) => calls.map(call)],
])("T21: calls with one id, as LocalAI sends them, get their own: %s", (_title, chunksOf) => {
  const head = (index: number) => ({
    index,
    id: "up1",
    type: "function",
    function: { name: "f", arguments: "" },
  });
  const more = (index: number) => call({ index, id: "up1", function: { arguments: "{}" } });
  const heads = chunksOf([head(0), head(1), head(2)]);
  const pieces = callsIn(passed(...heads, more(0), more(2), end)) as { id: string }[];
  expect(pieces.map(({ id }) => id)).toEqual([
    "up1",
    "call_up1_1",
    "call_up1_2",
    "up1",
    "call_up1_2",
  ]);
});

it.each<[string, JsonObject[], number[]]>([
  [
    "a new id and name at a used number begin a call",
    [
      { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{" } },
      { index: 0, function: { arguments: "}" } },
      { index: 0, id: "b", type: "function", function: { name: "y", arguments: "{" } },
      { index: 0, function: { arguments: "}" } },
      { index: 0, id: "a", function: { arguments: " " } },
    ],
    [0, 0, 1, 1, 0],
  ],
  [
    "a new id alone does not",
    [
      { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{" } },
      { index: 0, id: "b", type: "function", function: { arguments: "}" } },
    ],
    [0, 0],
  ],
  [
    "nor does a new number without a name",
    [
      { index: 0, id: "a", type: "function", function: { name: "x", arguments: "{" } },
      { index: 1, id: "a", type: "function", function: { arguments: "}" } },
      { index: 2, function: { arguments: " " } },
    ],
    [0, 0, 0],
  ],
])("T5: pieces belong to the same calls as in conversion: %s", (_title, pieces, places) => {
  const told = callsIn(passed(...pieces.map(call), end)) as JsonObject[];
  expect(told).toEqual(pieces.map((piece, at) => ({ ...piece, index: places[at] })));
  const together = { ...base, choices: [{ index: 0, delta: { tool_calls: pieces } }] };
  expect(callsIn(passed(together, end))).toEqual(told);
});
