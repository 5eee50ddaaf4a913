/** Numbers and ids that a direct responses stream adds to events, because typed clients fail without them. TXT-10, RESP-52. */
import { expect, it } from "vitest";
import { formatSse, type SseEvent } from "../../../src/base/sse.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { dataOf, framesOf, tapped } from "../chat/support.ts";

const { direct } = responsesCodec;

type Step = [name: string, members: JsonObject];
const frameOf = ([name, members]: Step): string => {
  const type = `response.${name}`;
  return formatSse({ event: type, data: JSON.stringify({ type, ...members }) });
};
const framesFor = (...steps: Step[]): SseEvent[] => framesOf(steps.map(frameOf).join(""));

/** Everything that the caller gets of a stream, without the end marker. */
function toldOf(...steps: Step[]): JsonObject[] {
  const { tap, passed } = tapped(direct, framesFor(...steps));
  return dataOf([...passed, ...tap.release()]).slice(0, -1) as JsonObject[];
}

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const thought = { type: "reasoning", id: "rs_a", summary: [] };
const said = { type: "message", id: "msg_b", role: "assistant", status: "completed" };
const called = { type: "function_call", id: "fc_c", call_id: "call_c", name: "f", arguments: "{}" };
const text = { type: "output_text", text: "Hi." };

/** As llama.cpp and Lemonade stream: without any number. */
const bare: Step[] = [
  ["created", { response: { id: "resp_1", object: "response", created_at: 5 } }],
  ["output_item.added", { item: thought }],
  ["reasoning_text.delta", { delta: "Well", item_id: "rs_a" }],
  ["reasoning_text.delta", { delta: ".", item_id: "rs_a" }],
  ["output_item.done", { item: thought }],
  ["output_item.added", { item: { ...said, content: [] } }],
  ["content_part.added", { item_id: "msg_b", part: { type: "output_text", text: "" } }],
  ["output_text.delta", { delta: "H", item_id: "msg_b" }],
  ["output_text.delta", { delta: "i.", item_id: "msg_b" }],
  ["content_part.done", { item_id: "msg_b", part: text }],
  ["output_item.done", { item: { ...said, content: [text] } }],
  ["output_item.added", { item: { ...called, arguments: "" } }],
  ["function_call_arguments.delta", { delta: "{}", item_id: "fc_c" }],
  ["output_item.done", { item: called }],
  ["completed", { response: { id: "resp_1", output: [thought, said, called], usage } }],
];

it("TXT-10: events without numbers are numbered by their order, by item and by part", () => {
  const told = toldOf(...bare);
  expect(told.map((event) => event["sequence_number"])).toEqual(bare.map((_, at) => at));
  const at = (name: string): unknown[] =>
    told
      .filter(({ type }) => type === `response.${name}`)
      .map((event) => [event["output_index"], event["content_index"]]);
  expect(at("output_item.added")).toEqual([0, 1, 2].map((index) => [index, undefined]));
  expect(at("output_item.done")).toEqual([0, 1, 2].map((index) => [index, undefined]));
  expect(at("reasoning_text.delta")).toEqual([0, 0].map((part) => [0, part]));
  expect(at("content_part.added")).toEqual([[1, 0]]);
  expect(at("output_text.delta")).toEqual([0, 0].map((part) => [1, part]));
  expect(at("content_part.done")).toEqual([[1, 0]]);
  expect(at("function_call_arguments.delta")).toEqual([[2, undefined]]);
});

it("RESP-52: texts have their list of annotations, in events, items and the response", () => {
  const whole = JSON.stringify(toldOf(...bare));
  expect(whole.match(/"type":"output_text"/g)).toHaveLength(3);
  expect(whole.match(/"annotations":\[\]/g)).toHaveLength(3);
});

it("RESP-51: a response has its id, time and status from its first event on", () => {
  const [first, last] = toldOf(
    ["created", { response: {} }],
    ["completed", { response: { usage } }],
  );
  const { id } = first!["response"] as JsonObject;
  expect(id).toMatch(/^resp_./);
  expect(first).toMatchObject({ response: { status: "in_progress", created_at: 5 } });
  expect(last).toMatchObject({ response: { id, status: "completed", created_at: 5 } });
  const answer = direct.answer({ output: [], created_at: 1_756_315_657.25 }, "acme/talk");
  expect(answer).toMatchObject({ status: "completed", created_at: 1_756_315_657 });
  expect(answer["id"]).toMatch(/^resp_./);
});

it("TXT-10: parts of an item are counted, and parts of a summary apart", () => {
  const part = { type: "summary_text", text: "" };
  const told = toldOf(
    ["output_item.added", { item: thought }],
    ...["One.", "Two."].flatMap((delta): Step[] => [
      ["reasoning_summary_part.added", { part }],
      ["reasoning_summary_text.delta", { delta }],
      ["reasoning_summary_part.done", { part }],
    ]),
    ["completed", { response: { output: [], usage } }],
  );
  const indexes = told.slice(1, -1).map((event) => event["summary_index"]);
  expect(indexes).toEqual([0, 0, 0, 1, 1, 1]);
  expect(told.slice(1, -1).every((event) => event["item_id"] === "rs_a")).toBe(true);
});

it("RESP-52: an item without an id has the same one in all events and in the response", () => {
  const { id: _, status: __, role: ___, ...item } = { ...said, content: [text] };
  const told = toldOf(
    ["created", { response: { id: "resp_1" } }],
    ["output_item.added", { output_index: 0, item: { type: "message" } }],
    ["output_text.delta", { output_index: 0, content_index: 0, delta: "Hi." }],
    ["output_item.done", { output_index: 0, item }],
    ["completed", { response: { id: "resp_1", output: [item], usage } }],
  );
  const id = "msg_resp1_0";
  const whole = { id, type: "message", role: "assistant", status: "completed" };
  expect(told.slice(1)).toMatchObject([
    { item: { ...whole, status: "in_progress", content: [] } },
    { item_id: id },
    { item: whole },
    { response: { output: [whole] } },
  ]);
  expect(direct.answer({ id: "resp_1", output: [{ ...item }] }, "a/b")).toMatchObject({
    output: [whole],
  });
});

it("TXT-10: an item of another kind without an id gets none, and the next item the next number", () => {
  const search = { type: "web_search_call", status: "completed" };
  const { id: _, ...item } = said;
  const told = toldOf(
    ["created", { response: { id: "resp_1" } }],
    ["output_item.added", { item: search }],
    ["output_item.done", { item: search }],
    ["output_item.added", { item: { ...item, content: [] } }],
    ["output_text.delta", { delta: "Hi." }],
    ["completed", { response: { id: "resp_1", output: [search, item], usage } }],
  );
  const id = "msg_resp1_1";
  expect(told.slice(2)).toMatchObject([
    { output_index: 0, item: search },
    { output_index: 1, item: { id } },
    { output_index: 1, item_id: id },
    { output_index: 1, item: { id } },
    { response: { output: [search, { id }] } },
  ]);
  expect(told[2]!["item"]).toEqual(search);
});

it("TXT-10: items that come whole, without ids and numbers, have numbers of their own", () => {
  const { id: _, ...item } = { ...said, content: [text] };
  const done: Step = ["output_item.done", { item }];
  const told = toldOf(["created", { response: { id: "resp_1" } }], done, done, [
    "completed",
    { response: { id: "resp_1", output: [item, item], usage } },
  ]);
  const ids = ["msg_resp1_0", "msg_resp1_1"].map((id) => ({ id }));
  expect(told.slice(1)).toMatchObject([
    { output_index: 0, item: ids[0] },
    { output_index: 1, item: ids[1] },
    { response: { output: ids } },
  ]);
});

it("TXT-10: a number of -1 is none, and a frame that only has the rest in common keeps its own", () => {
  const at = { item_id: "msg_b", output_index: 0, content_index: 0 };
  const delta = (piece: string): Step => [
    "output_text.delta",
    { sequence_number: -1, ...at, delta: piece },
  ];
  const told = toldOf(delta("a"), delta("b"), delta("c"), ["completed", { response: { usage } }]);
  expect(told.map((event) => event["sequence_number"])).toEqual([0, 1, 2, 3]);
  expect(told.map((event) => event["delta"])).toEqual(["a", "b", "c", undefined]);
});

it("TXT-10: events of other kinds, and whole ones, pass byte for byte", () => {
  const at = { item_id: "msg_b", output_index: 0, content_index: 0 };
  const frames = [
    ...framesFor(["output_text.delta", { sequence_number: 7, ...at, delta: "x" }]),
    ...framesOf(formatSse({ event: "keepalive", data: '{"type":"keepalive"}' })),
  ];
  expect(tapped(direct, frames).passed).toEqual(frames);
});

it("T10: an item that the answer leaves out does not end as the one in its place", () => {
  const whole = { ...said, content: [text] };
  const ends = (...steps: Step[]) =>
    toldOf(
      ["output_item.added", { output_index: 0, item: thought }],
      ["output_item.added", { output_index: 1, item: { ...said, content: [] } }],
      ...steps,
    ).flatMap(({ type, item }) => (type === "response.output_item.done" ? [item] : []));
  const done: Step = ["output_item.done", { output_index: 1, item: whole }];
  const completed = (output: JsonObject[]): Step => ["completed", { response: { output, usage } }];
  expect(ends(done, completed([whole]))).toMatchObject([whole]);
  expect(ends(completed([whole]))).toMatchObject([whole]);
  // Its end has another number than its beginning.
  expect(ends(["output_item.done", { output_index: 2, item: whole }], completed([whole]))).toEqual([
    expect.objectContaining({ id: "msg_b" }),
  ]);
  // An id that changed.
  const renamed = { ...thought, id: "rs_other" };
  expect(ends(done, completed([renamed, whole]))).toMatchObject([whole, renamed]);
  // With an item less, the places say nothing of changed ids.
  expect(ends(done, completed([{ ...whole, id: "msg_other" }]))).toMatchObject([whole]);
  // Nor with one that never began in its stead, of another type.
  const call = { type: "function_call", id: "fc_a", call_id: "c", name: "look", arguments: "{}" };
  const moved = [{ ...whole, id: "msg_other" }, call];
  expect(ends(done, completed(moved))).toMatchObject([whole]);
});
