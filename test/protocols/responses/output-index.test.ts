/** Responses streams whose vendors give several items the same number (stream-places.ts). Trap T5. */
import { describe, expect, it } from "vitest";
import { formatSse } from "../../../src/base/sse.ts";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { grammarFaults } from "../../support/grammar.ts";
import { decodeFrames, framesOf } from "../chat/support.ts";

type Step = [type: string, members: JsonObject];

const item = (members: JsonObject): JsonObject => ({ output_index: 0, item: members });
const at = (members: JsonObject): JsonObject => ({
  output_index: 0,
  content_index: 0,
  ...members,
});

/** The answer of a stream of these events. */
function whole(...steps: Step[]) {
  const response = (status: string) => ({ response: { id: "resp_up", status, output: [] } });
  const all: Step[] = [
    ["created", response("in_progress")],
    ...steps,
    ["completed", response("completed")],
  ];
  const text = all.map(([name, members]) => {
    const type = `response.${name}`;
    return formatSse({ event: type, data: JSON.stringify({ type, ...members }) });
  });
  const events = decodeFrames(responsesCodec, framesOf(text.join("")));
  expect(grammarFaults(events)).toEqual([]);
  return collect(events);
}

const said = (id: string, text: string): Step[] => [
  ["output_item.added", item({ type: "message", id, content: [] })],
  ["output_text.delta", at({ delta: text })],
  ["output_text.done", at({ text })],
  ["output_item.done", item({ type: "message", id, content: [{ type: "output_text", text }] })],
];

const thought = (id: string, encrypted_content: string): Step[] => {
  const summary = [{ type: "summary_text", text: id }];
  return [
    ["output_item.added", item({ type: "reasoning", id, summary: [] })],
    ["reasoning_summary_text.delta", at({ delta: id })],
    ["output_item.done", item({ type: "reasoning", id, summary, encrypted_content })],
  ];
};

/** The frames of a call. They have the call's own id, or a different one each, like those of some vendors. */
const begun = (call_id: string): Step => [
  "output_item.added",
  item({ type: "function_call", id: `fc_${call_id}`, call_id, name: "f", arguments: "" }),
];
const piece = (delta: string, item_id = `any_${delta}`): Step => [
  "function_call_arguments.delta",
  at({ item_id, delta }),
];
const done = (call_id: string, text: string): Step => [
  "output_item.done",
  item({ type: "function_call", id: `fc_${call_id}`, call_id, name: "f", arguments: text }),
];
const call = (id: string, text: string): Step[] => [begun(id), piece(text), done(id, text)];

describe("items with the same output_index", () => {
  it("T5: are separated if they follow each other", () => {
    const signed = (value: string) => ({ signature: { protocol: "responses", value } });
    expect(
      whole(
        ...thought("First.", "s1"),
        ...said("m1", "I will look."),
        ...call("call_1", '{"n":1}'),
        ...call("call_2", '{"n":2}'),
        ...thought("Then.", "s2"),
        ...said("m2", "It is here."),
      ).content,
    ).toMatchObject([
      { type: "reasoning", text: "First.", ...signed("s1") },
      { type: "text", text: "I will look." },
      { type: "tool_call", id: "call_1", arguments: '{"n":1}' },
      { type: "tool_call", id: "call_2", arguments: '{"n":2}' },
      { type: "reasoning", text: "Then.", ...signed("s2") },
      { type: "text", text: "It is here.", newMessage: true },
    ]);
  });

  it("T5: are separated by their ids if calls interleave", () => {
    expect(
      whole(
        begun("a"),
        begun("b"),
        piece('{"n"', "fc_a"),
        piece('{"m":2}', "fc_b"),
        piece(":1}", "fc_a"),
        done("a", '{"n":1}'),
        done("b", '{"m":2}'),
      ).content,
    ).toMatchObject([
      { id: "a", arguments: '{"n":1}' },
      { id: "b", arguments: '{"m":2}' },
    ]);
  });

  it("T5: are joined if an item begins or ends twice", () => {
    const [first, ...rest] = call("a", "{}");
    const last = rest.at(-1)!;
    expect(whole(first!, first!, ...rest, last, first!, last).content).toMatchObject([{ id: "a" }]);
    const message = said("m1", "Hi");
    expect(whole(...message, message.at(-1)!).content).toEqual([{ type: "text", text: "Hi" }]);
  });
});
