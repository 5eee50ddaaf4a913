/** Answers of each upstream, as converted for each caller. CONV-701 to CONV-717, RESP-51 to RESP-54; traps T35, T37, T42. */
import { describe, expect, it } from "vitest";
import { at, upstreamModel } from "../rows/protocols.ts";
import { json } from "../support/recorder.ts";
import {
  byName,
  conversions,
  convertedPairs,
  modelOf,
  names,
  toolsOf,
  type Body,
  type Name,
} from "./world.ts";

const world = conversions();

type Finish = "stop" | "length" | "filter";
type Parts = { readonly text?: string; readonly call?: boolean; readonly finish: Finish };

const place = { where: "here" };
const placeText = JSON.stringify(place);
const callId = "call_7";

/** The same answer as an upstream of each protocol writes it. */
const upstreams: Readonly<Record<Name, (parts: Parts) => Body>> = {
  chat({ text, call, finish }) {
    const reason = {
      stop: call ? "tool_calls" : "stop",
      length: "length",
      filter: "content_filter",
    };
    const tools = {
      tool_calls: [
        { id: callId, type: "function", function: { name: "look", arguments: placeText } },
      ],
    };
    const message = { role: "assistant", content: text ?? null, ...(call ? tools : {}) };
    return {
      ...byName.chat.whole(),
      choices: [{ index: 0, message, finish_reason: reason[finish] }],
    };
  },
  responses({ text, call, finish }) {
    const message = {
      type: "message",
      id: "msg_7",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    };
    const item = {
      type: "function_call",
      id: "fc_7",
      call_id: callId,
      name: "look",
      arguments: placeText,
      status: "completed",
    };
    const why = { length: "max_output_tokens", filter: "content_filter" };
    return {
      ...byName.responses.whole(),
      output: [...(text === undefined ? [] : [message]), ...(call ? [item] : [])],
      ...(finish === "stop"
        ? {}
        : { status: "incomplete", incomplete_details: { reason: why[finish] } }),
    };
  },
  messages({ text, call, finish }) {
    const reason = {
      stop: call ? "tool_use" : "end_turn",
      length: "max_tokens",
      filter: "refusal",
    };
    return {
      ...byName.messages.whole(),
      content: [
        ...(text === undefined ? [] : [{ type: "text", text }]),
        ...(call ? [{ type: "tool_use", id: callId, name: "look", input: place }] : []),
      ],
      stop_reason: reason[finish],
    };
  },
  generate_content({ text, call, finish }) {
    const reason = { stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY" };
    const parts = [
      ...(text === undefined ? [] : [{ text }]),
      ...(call
        ? [
            {
              functionCall: { id: callId, name: "look", args: place },
              thoughtSignature: "c2lnbmVk",
            },
          ]
        : []),
    ];
    return {
      ...byName.generate_content.whole(),
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: reason[finish] }],
    };
  },
};

async function answerOf(from: Name, to: Name, parts: Parts): Promise<Body> {
  const extra = parts.call ? toolsOf[from] : {};
  const { status, answer } = await world.send(from, to, extra, json(upstreams[to](parts)));
  expect([status, status === 200 ? "" : answer]).toEqual([200, ""]);
  return answer;
}

const responsesItem = (answer: Body, type: string): unknown =>
  (answer["output"] as Body[]).find((item) => item["type"] === type);

/** Reads the fields of an answer in each caller's protocol. */
const reads = {
  chat: {
    content: (answer: Body) => at(answer, "choices", 0, "message", "content"),
    role: (answer: Body) => at(answer, "choices", 0, "message", "role"),
    finish: (answer: Body) => at(answer, "choices", 0, "finish_reason"),
    call: (answer: Body) => at(answer, "choices", 0, "message", "tool_calls", 0),
  },
  responses: {
    content: (answer: Body) => at(responsesItem(answer, "message"), "content", 0, "text"),
    role: (answer: Body) => at(responsesItem(answer, "message"), "role"),
    finish: (answer: Body) => [
      answer["status"],
      at(answer, "incomplete_details", "reason") ?? answer["incomplete_details"],
    ],
    call: (answer: Body) => responsesItem(answer, "function_call"),
  },
  messages: {
    content: (answer: Body) => at(answer, "content", 0, "text"),
    role: (answer: Body) => answer["role"],
    finish: (answer: Body) => answer["stop_reason"],
    call: (answer: Body) =>
      (answer["content"] as Body[]).find((block) => block["type"] === "tool_use"),
  },
  generate_content: {
    content: (answer: Body) => at(answer, "candidates", 0, "content", "parts", 0, "text"),
    role: (answer: Body) => at(answer, "candidates", 0, "content", "role"),
    finish: (answer: Body) => at(answer, "candidates", 0, "finishReason"),
    call: (answer: Body) => {
      const parts = at(answer, "candidates", 0, "content", "parts") as Body[];
      return parts.find((part) => "functionCall" in part)?.["functionCall"];
    },
  },
} as const;

/** The rows of one caller, with the expected role, finish reasons and tool call. */
interface Rows {
  readonly caller: Name;
  readonly title: string;
  readonly role: string;
  readonly finish: Readonly<Record<Finish | "call", unknown>>;
  readonly call: Body;
}

const callers: readonly Rows[] = [
  {
    caller: "chat",
    title: "CONV-701 CONV-705 CONV-709 CONV-713 CONV-717",
    role: "assistant",
    finish: { stop: "stop", length: "length", filter: "content_filter", call: "tool_calls" },
    call: { id: callId, type: "function", function: { name: "look", arguments: placeText } },
  },
  {
    caller: "responses",
    title: "CONV-702 CONV-706 CONV-710 CONV-714 RESP-52 RESP-54",
    role: "assistant",
    finish: {
      stop: ["completed", null],
      length: ["incomplete", "max_output_tokens"],
      filter: ["incomplete", "content_filter"],
      call: ["completed", null],
    },
    call: { call_id: callId, name: "look", arguments: placeText },
  },
  {
    caller: "messages",
    title: "CONV-703 CONV-707 CONV-711 CONV-715 CONV-717 T35",
    role: "assistant",
    finish: { stop: "end_turn", length: "max_tokens", filter: "refusal", call: "tool_use" },
    call: { id: callId, name: "look", input: place },
  },
  {
    caller: "generate_content",
    title: "CONV-704 CONV-708 CONV-712 CONV-716 T35",
    role: "model",
    finish: { stop: "STOP", length: "MAX_TOKENS", filter: "SAFETY", call: "STOP" },
    call: { name: "look", args: place },
  },
];

const pairs = callers.flatMap((rows) =>
  names
    .filter((to) => to !== rows.caller)
    .map((to) => [`${rows.title}: ${rows.caller} to ${to}`, to, rows] as const),
);

describe("a converted answer", () => {
  it.each(pairs)("%s", async (_title, to, { caller, role, finish, call }) => {
    const read = reads[caller];
    const plain = await answerOf(caller, to, { text: "hi", finish: "stop" });
    expect([read.content(plain), read.role(plain), read.finish(plain)]).toEqual([
      "hi",
      role,
      finish.stop,
    ]);
    const short = await answerOf(caller, to, { text: "h", finish: "length" });
    expect([read.content(short), read.finish(short)]).toEqual(["h", finish.length]);
    const filtered = await answerOf(caller, to, { text: "h", finish: "filter" });
    expect(read.finish(filtered)).toEqual(finish.filter);
    const calling = await answerOf(caller, to, { text: "Let me see.", call: true, finish: "stop" });
    expect(read.content(calling)).toBe("Let me see.");
    expect(read.call(calling)).toMatchObject(call);
    expect(read.finish(calling)).toEqual(finish.call);
    const only = await answerOf(caller, to, { call: true, finish: "stop" });
    expect(read.call(only)).toMatchObject(call);
    expect(read.finish(only)).toEqual(finish.call);
  });
});

describe("each pair of protocols", () => {
  const all = names.flatMap((from) => names.map((to) => [from, to] as const));

  it.each(all)("TXT-05 TXT-06 T37: %s to %s answers in the caller's protocol", async (from, to) => {
    const { status, answer, up } = await world.send(from, to);
    const caller = byName[from];
    expect([status, caller.textOf(answer), caller.modelOf(answer)]).toEqual([
      200,
      caller.textOf(caller.whole()),
      modelOf(to),
    ]);
    expect(JSON.stringify(answer)).not.toContain(upstreamModel);
    // In generateContent the path has the model.
    expect(up?.["model"]).toBe(to === "generate_content" ? undefined : upstreamModel);
    const others = names.filter((name) => name !== from);
    for (const other of others) expect(byName[other].textOf(answer)).toBe("");
  });

  it.each(convertedPairs.filter(([from]) => from === "responses"))(
    "RESP-51 RESP-53: gives every field of a response: %s to %s",
    async (from, to) => {
      const { answer } = await world.send(from, to);
      expect(answer).toMatchObject({
        id: expect.stringMatching(/^resp_/) as string,
        object: "response",
        model: modelOf(to),
        status: "completed",
        output: [{ type: "message", role: "assistant" }],
        usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      });
    },
  );

  it.each(["chat", "responses", "messages"] as const)(
    "T42: hides generateContent's signature from %s callers, in calls and in their ids",
    async (from) => {
      const answer = await answerOf(from, "generate_content", { call: true, finish: "stop" });
      expect(JSON.stringify(answer)).not.toContain("c2lnbmVk");
    },
  );
});
