import { describe, expect, it } from "vitest";
import { formatSse, type SseEvent } from "../../../src/base/sse.ts";
import { collect } from "../../../src/protocols/canonical/collect.ts";
import type { CanonicalEvent } from "../../../src/protocols/canonical/events.ts";
import { grammarFaults } from "../../support/grammar.ts";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { responsesCodec } from "../../../src/protocols/responses/index.ts";
import { decodeFrames, everyCut, framesOf } from "../chat/support.ts";

type Step = [type: string, members: JsonObject];
const response = (status: string, extra: JsonObject = {}): JsonObject => ({
  response: { id: "resp_up", created_at: 17, status, output: [], ...extra },
});
const created: Step = ["created", response("in_progress")];
const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
const completed: Step = ["completed", response("completed", { usage })];
const item = (index: number, members: JsonObject): JsonObject => ({
  output_index: index,
  item: members,
});
let fresh = 0;
const at = (index: number, members: JsonObject, part = 0): JsonObject => ({
  // Some upstreams give an item a new id in every event.
  item_id: `any_${(fresh += 1)}`,
  output_index: index,
  content_index: part,
  ...members,
});

/** The bytes of a stream. Every type gets its prefix, and its name on the event line. */
const sse = (...steps: Step[]): string =>
  steps
    .map(([name, members], index) => {
      const type = name === "error" ? name : `response.${name}`;
      return formatSse({
        event: type,
        data: JSON.stringify({ type, sequence_number: index, ...members }),
      });
    })
    .join("");

/** The events of a stream. Expects that each is valid. */
function readFrames(frames: readonly SseEvent[]): CanonicalEvent[] {
  const events = decodeFrames(responsesCodec, frames);
  expect(grammarFaults(events)).toEqual([]);
  return events;
}
const read = (...steps: Step[]) => readFrames(framesOf(sse(...steps)));
const whole = (...steps: Step[]) => collect(read(created, ...steps, completed));

const message: Step[] = [
  ["output_item.added", item(0, { type: "message", id: "msg_1", content: [] })],
  ["content_part.added", at(0, { part: { type: "output_text", text: "" } })],
  ["output_text.delta", at(0, { delta: "Grüß " })],
  ["output_text.delta", at(0, { delta: "dich 👋" })],
  ["output_text.done", at(0, { text: "Grüß dich 👋" })],
  ["content_part.done", at(0, { part: { type: "output_text", text: "Grüß dich 👋" } })],
  [
    "output_item.done",
    item(0, { type: "message", content: [{ type: "output_text", text: "Grüß dich 👋" }] }),
  ],
];
const call = (index: number, id: string, text: string): Step[] => [
  [
    "output_item.added",
    item(index, { type: "function_call", call_id: id, name: "f", arguments: "" }),
  ],
  ["function_call_arguments.delta", at(index, { delta: text })],
  ["function_call_arguments.done", at(index, { arguments: text })],
  [
    "output_item.done",
    item(index, { type: "function_call", call_id: id, name: "f", arguments: text }),
  ],
];

describe("the reader of responses streams", () => {
  it("reads a plain stream, event by event, with any item ids", () => {
    const events = read(created, ["in_progress", response("in_progress")], ...message, completed);
    expect(events).toEqual([
      { type: "start", protocol: "responses", id: "resp_up", createdAt: 17 },
      { type: "text_start", block: "content_0_0" },
      { type: "text_delta", block: "content_0_0", text: "Grüß " },
      { type: "text_delta", block: "content_0_0", text: "dich 👋" },
      { type: "text_end", block: "content_0_0" },
      { type: "usage", usage: expect.objectContaining({ inputTokens: 5, outputTokens: 3 }) },
      { type: "finish", finish: { reason: "stop", raw: "completed" } },
    ]);
  });

  it("T3 T12: reads the arguments of started calls from the terminal event if no other event has them", () => {
    const call = (id: string, text: string): JsonObject => ({
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name: "f",
      arguments: text,
    });
    const items = [call("b", '{"b":1}'), call("a", '{"a":0}')];
    const events = read(
      created,
      ["output_item.added", item(0, call("a", ""))],
      ["output_item.added", item(1, call("b", ""))],
      ["completed", response("completed", { usage, output: items })],
    );
    expect(collect(events).content).toMatchObject([
      { id: "a", arguments: '{"a":0}' },
      { id: "b", arguments: '{"b":1}' },
    ]);
  });

  it("T10 T12: reads text and then two calls", () => {
    const { content, finish } = whole(
      ...message,
      ...call(1, "a", '{"x":1}'),
      ...call(2, "b", "{}"),
    );
    expect(content).toEqual([
      { type: "text", text: "Grüß dich 👋" },
      { type: "tool_call", id: "a", name: "f", arguments: '{"x":1}' },
      { type: "tool_call", id: "b", name: "f", arguments: "{}" },
    ]);
    expect(finish.reason).toBe("tool_calls");
  });

  it("T6: reads interleaved pieces of two calls", () => {
    const [first, second] = [call(0, "a", "{"), call(1, "b", "[")];
    const { content } = whole(
      first[0]!,
      second[0]!,
      first[1]!,
      second[1]!,
      ["function_call_arguments.delta", at(0, { delta: "}" })],
      ["function_call_arguments.delta", at(1, { delta: "]" })],
    );
    expect(content).toMatchObject([{ arguments: "{}" }, { arguments: "[]" }]);
  });

  it.each<[string, Step[], object[]]>([
    [
      "T11: reads a call that comes only as a whole item",
      [
        [
          "output_item.done",
          item(0, { type: "function_call", call_id: "a", name: "f", arguments: "{}" }),
        ],
      ],
      [{ type: "tool_call", id: "a", arguments: "{}" }],
    ],
    [
      "T2: reads arguments that come only in the done event",
      [call(0, "a", "{}")[0]!, call(0, "a", "{}")[2]!],
      [{ type: "tool_call", arguments: "{}" }],
    ],
    [
      "reads text that comes only in the done event",
      [["output_text.done", at(0, { text: "t" })]],
      [{ type: "text", text: "t" }],
    ],
    [
      "reads text in pieces of OpenRouter's name",
      ["a", "b"].map((delta): Step => ["content_part.delta", at(0, { delta })]),
      [{ type: "text", text: "ab" }],
    ],
    [
      "reads text that comes only as a whole item",
      [
        [
          "output_item.done",
          item(0, { type: "message", content: [{ type: "output_text", text: "t" }] }),
        ],
      ],
      [{ type: "text", text: "t" }],
    ],
    [
      "reads refusals",
      [
        ["refusal.delta", at(0, { delta: "n" })],
        ["refusal.delta", at(0, { delta: "o" })],
        ["refusal.done", at(0, { refusal: "no" })],
      ],
      [{ type: "refusal", text: "no" }],
    ],
    [
      "reads two parts of one message",
      [
        ["output_text.delta", at(0, { delta: "a" })],
        ["output_text.done", at(0, { text: "a" })],
        ["output_text.delta", at(0, { delta: "b" }, 1)],
      ],
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    ],
    [
      "reads a summary of several parts, and its encryption from the item's end",
      [
        ["reasoning_summary_text.delta", at(0, { summary_index: 0, delta: "a" })],
        ["reasoning_summary_text.done", at(0, { summary_index: 0, text: "a" })],
        ["reasoning_summary_text.done", at(0, { summary_index: 1, text: "b" })],
        ["output_item.done", item(0, { type: "reasoning", summary: [], encrypted_content: "zzz" })],
      ],
      [
        {
          type: "reasoning",
          text: "a\n\nb",
          summary: true,
          signature: { protocol: "responses", value: "zzz" },
        },
      ],
    ],
    [
      "reads raw reasoning in Open Responses' spelling",
      [["reasoning.delta", at(0, { delta: "hm" })]],
      [{ type: "reasoning", text: "hm" }],
    ],
    [
      "T18: reads raw reasoning next to its summary once",
      [
        ["reasoning_text.delta", at(0, { delta: "hm" })],
        ["reasoning_summary_text.delta", at(0, { summary_index: 0, delta: "short" })],
        [
          "output_item.done",
          item(0, { type: "reasoning", summary: [{ type: "summary_text", text: "short" }] }),
        ],
      ],
      [{ type: "reasoning", text: "hm" }],
    ],
    [
      "ignores events of hosted tools",
      [
        ["web_search_call.searching", at(0, {})],
        ["output_item.done", item(0, { type: "web_search_call" })],
        ...message.slice(2),
      ],
      [{ type: "text", text: "Grüß dich 👋" }],
    ],
  ])("%s", (_what, steps, expected) => {
    const { content } = whole(...steps);
    expect(content).toMatchObject(expected);
    expect(content).toHaveLength(expected.length);
  });

  it("reads an answer that only the terminal event contains", () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: "t" }] }];
    const events = read(created, ["completed", response("completed", { output, usage })]);
    expect(collect(events).content).toEqual([{ type: "text", text: "t" }]);
  });

  it("T12: reads kinds of items that only the terminal event contains, and no item twice", () => {
    const reasoning = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] };
    const said = { type: "message", content: [{ type: "output_text", text: "t" }] };
    const called = { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" };
    const output = [reasoning, said, called];
    const end: Step = ["completed", response("completed", { output, usage })];
    const thought: Step = [
      "reasoning_summary_text.delta",
      at(0, { summary_index: 0, delta: "hm" }),
    ];
    const spoken: Step = ["output_text.delta", at(1, { delta: "t" })];
    const texts = [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "t" },
      { type: "tool_call", id: "call_1" },
    ];
    for (const steps of [
      [thought],
      [thought, spoken],
      [thought, spoken, ...call(2, "call_1", "{}")],
    ])
      expect(collect(read(created, ...steps, end)).content).toMatchObject(texts);
    const failed: Step = [
      "failed",
      response("failed", { output, error: { message: "fell over" } }),
    ];
    const types = read(created, thought, failed).map(({ type }) => type);
    expect(types.filter((type) => /^(text|tool_call)/.test(type))).toEqual([]);
  });

  it("T12: reads streamed and terminal content together: a picture and a text do not hide each other", () => {
    const said = { type: "message", content: [{ type: "output_text", text: "t" }] };
    const drawn = { type: "image_generation_call", id: "ig_1", result: "AAAA" };
    const end: Step = ["completed", response("completed", { output: [drawn, said], usage })];
    const picture: Step = ["output_item.done", item(0, drawn)];
    const spoken: Step = ["output_text.delta", at(1, { delta: "t" })];
    const contentOf = (...steps: Step[]) =>
      collect(read(created, ...steps, end)).content.map(({ type }) => type);
    expect(contentOf(picture)).toEqual(["media", "text"]);
    expect(contentOf(spoken)).toEqual(["text", "media"]);
    expect(contentOf(picture, spoken)).toEqual(["media", "text"]);
    expect(contentOf()).toEqual(["media", "text"]);
  });

  it("T12: keeps reasoning that comes after its item's end, and reads raw reasoning next to a summary once", () => {
    const delta = (text: string): Step => [
      "reasoning_summary_text.delta",
      at(0, { summary_index: 0, delta: text }),
    ];
    const end: Step = [
      "output_item.done",
      item(0, { type: "reasoning", summary: [{ type: "summary_text", text: "one" }] }),
    ];
    const raw: Step = ["reasoning_text.delta", at(0, { delta: "raw" })];
    expect(
      whole(delta("one"), end, delta(" two"), delta(" three"), end, raw).content,
    ).toMatchObject([
      { type: "reasoning", text: "one" },
      { type: "reasoning", text: " two three" },
    ]);
  });

  it("T48: takes usage of an earlier event if the last one has none, unless it covers the start only", () => {
    const usageAfter = (usage: JsonObject) =>
      collect(
        read(["in_progress", response("in_progress", { usage })], ...message, [
          "completed",
          response("completed"),
        ]),
      ).usage;
    expect(usageAfter({ input_tokens: 5, output_tokens: 3, total_tokens: 8 })).toMatchObject({
      outputTokens: 3,
    });
    expect(usageAfter({ input_tokens: 5, output_tokens: 0, total_tokens: 5 })).toBeUndefined();
  });

  it("T45: reads reason and usage of an incomplete response", () => {
    const incomplete_details = { reason: "max_output_tokens" };
    const answer = collect(
      read(created, ...message.slice(0, 3), [
        "incomplete",
        response("incomplete", { incomplete_details, usage }),
      ]),
    );
    expect(answer.finish).toEqual({ reason: "length", raw: "max_output_tokens" });
    expect(answer.usage).toMatchObject({ outputTokens: 3 });
  });

  it("T13 T19: reads an answer as truncated if only the event's name says so", () => {
    const object = { id: "resp_up", incomplete_details: { reason: "max_output_tokens" } };
    const answer = collect(
      read(created, ...message.slice(0, 3), ["incomplete", { response: object }]),
    );
    expect(answer.finish).toEqual({ reason: "length", raw: "max_output_tokens" });
  });

  it("T45: reads a failed response as an error, after its usage", () => {
    const error = { code: "server_error", message: "fell over" };
    const events = read(created, ...message.slice(0, 3), [
      "failed",
      response("failed", { error, usage }),
    ]);
    expect(events.slice(-2)).toMatchObject([
      { type: "usage", usage: { outputTokens: 3 } },
      { type: "error", message: "fell over", code: "server_error" },
    ]);
  });

  it("T16: ends with an error at an error event, a frame that is not JSON, or a missing terminal event", () => {
    const last = (...steps: Step[]) => read(created, ...steps).at(-1);
    expect(last(["error", { code: "overloaded", message: "no" }])).toMatchObject({
      type: "error",
      message: "no",
      code: "overloaded",
    });
    expect(last(["error", { error: { code: "quota", message: "no" } }])).toMatchObject({
      code: "quota",
    });
    expect(last(...message)).toMatchObject({ type: "error" });
    expect(read().at(-1)).toMatchObject({ type: "error" });
    expect(readFrames([...framesOf(sse(created)), { data: "<html>" }]).at(-1)).toMatchObject({
      type: "error",
    });
  });

  it("T16: reports an error event at once, and ignores what follows", () => {
    const decoder = responsesCodec.decodeStream();
    const push = (...steps: Step[]) =>
      framesOf(sse(...steps)).flatMap((frame) => decoder.push(frame));
    const events = push(created, ...message.slice(0, 3), [
      "error",
      { code: "quota", message: "no" },
    ]);
    expect(events.slice(-2)).toMatchObject([
      { type: "text_end" },
      { type: "error", message: "no", code: "quota" },
    ]);
    expect([...push(completed), ...decoder.end({ kind: "complete" })]).toEqual([]);
  });

  it("T17: reads the same events at any cut", () => {
    const text = sse(created, ...message, ...call(1, "a", '{"ö":1}'), completed);
    const expected = decodeFrames(responsesCodec, framesOf(text));
    for (const pieces of everyCut(text)) {
      expect(decodeFrames(responsesCodec, framesOf(...pieces))).toEqual(expected);
    }
  });
});
