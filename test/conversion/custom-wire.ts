/** Custom tools on the wire of chat completions and responses: a conversation with one, and answers that call it. */
import { expect } from "vitest";
import { parseJsonText } from "../../src/base/json-text.ts";
import { createSseParser, formatSse, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import {
  codecs,
  type JsonObject,
  type Route,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";
import { routeOf as routeBetween } from "./route.ts";

export type Caller = "chat" | "responses";
export const grammar = {
  syntax: "lark",
  definition: 'start: "*** Begin Patch" LF\n%import common.LF',
};
export const before = '*** Begin Patch\n+ say "old"\n';
export const patch = '*** Begin Patch\n+ say "new" \\o/ é\n*** End Patch';
const named = { name: "apply_patch", description: "Edits files." };

/** A conversation with a custom tool and a function: the tool was called, and must be called again. */
export const bodies: Readonly<Record<Caller, JsonObject>> = {
  chat: {
    model: "acme/talk",
    messages: [
      { role: "user", content: "Edit." },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "custom", custom: { name: "apply_patch", input: before } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "done" },
      { role: "user", content: "Again." },
    ],
    tools: [
      {
        type: "function",
        function: { name: "look", parameters: { type: "object", properties: {} } },
      },
      { type: "custom", custom: { ...named, format: { type: "grammar", grammar } } },
    ],
    tool_choice: { type: "custom", custom: { name: "apply_patch" } },
  },
  responses: {
    model: "acme/talk",
    input: [
      { role: "user", content: "Edit." },
      { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: before },
      { type: "custom_tool_call_output", call_id: "call_1", output: "done" },
      { role: "user", content: "Again." },
    ],
    tools: [
      { type: "function", name: "look", parameters: { type: "object", properties: {} } },
      { type: "custom", ...named, format: { type: "grammar", ...grammar } },
    ],
    tool_choice: { type: "custom", name: "apply_patch" },
  },
};

export function routeOf(
  caller: Caller,
  upstream: UpstreamProtocol,
  more: { readonly customTools?: true; readonly body?: JsonObject } = {},
): Route {
  const { body = bodies[caller], ...rest } = more;
  return routeBetween(caller, upstream, body, { stream: true, id: "01abc", ...rest });
}

const framesOf = (bytes: string): SseEvent[] => {
  const parser = createSseParser();
  return [...parser.push(Buffer.from(bytes)), ...parser.end()];
};

/** Converts a stream of the upstream into the caller's frames. */
export function passed(route: Route, bytes: string): SseEvent[] {
  const tap = route.tap();
  const frames = framesOf(bytes).flatMap((event) => tap.push(event));
  return [...frames, ...(tap.end?.() ?? []), ...tap.release(noUsage)];
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

export const wholeCall: Readonly<Record<Caller, (answer: JsonObject) => unknown>> = {
  chat: (answer) =>
    (answer as { choices: { message: { tool_calls: unknown[] } }[] }).choices[0]!.message
      .tool_calls,
  responses: (answer) => answer["output"],
};

export const givenCall: Readonly<Record<Caller, (call: Call) => unknown>> = {
  chat: ({ id, name, input }) => [{ id, type: "custom", custom: { name, input } }],
  responses: ({ id, name, input }) => [
    {
      type: "custom_tool_call",
      id: "ctc_01abc_0",
      call_id: id,
      name,
      input,
      status: "completed",
    },
  ],
};

/** The call in a stream of the caller's protocol, read from its pieces and, if there is one, its final event. */
export const streamedCall: Readonly<Record<Caller, (frames: readonly SseEvent[]) => unknown>> = {
  chat: (frames) => {
    const whole = codecs.chat.direct.answerFromFrames(frames)!;
    const text = frames.map(({ data }) => data).join("\n");
    expect(text).not.toContain('"type":"function"');
    return wholeCall.chat(whole);
  },
  responses: (frames) => {
    const events = frames.flatMap(({ data }) => (data === "[DONE]" ? [] : [parseJsonText(data)]));
    const of = (type: string) => (events as JsonObject[]).filter((event) => event["type"] === type);
    const deltas = of("response.custom_tool_call_input.delta").map(({ delta }) => delta as string);
    const [done] = of("response.custom_tool_call_input.done");
    expect(done).toMatchObject({ input: deltas.join(""), output_index: 0 });
    expect(JSON.stringify(events)).not.toContain("function_call_arguments");
    return streamedItems(frames);
  },
};

/** The items of a responses stream. Expects the items' own events and the last event to agree. */
export function streamedItems(frames: readonly SseEvent[]): unknown {
  const events = frames.flatMap(({ data }) => (data === "[DONE]" ? [] : [parseJsonText(data)]));
  const of = (type: string) => (events as JsonObject[]).filter((event) => event["type"] === type);
  const { output } = of("response.completed")[0]!["response"] as JsonObject;
  expect(of("response.output_item.done").map(({ item }) => item)).toEqual(output);
  return output;
}

export const call = { name: "apply_patch", input: patch };
export const answers: Readonly<Record<Caller, JsonObject>> = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_2", type: "custom", custom: call }],
        },
        finish_reason: "tool_calls",
      },
    ],
  },
  responses: {
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [{ type: "custom_tool_call", id: "ctc_1", call_id: "call_2", ...call }],
  },
};
/** The same answers as streams, in pieces. */
export const streams: Readonly<Record<Caller, string>> = {
  chat: [
    { role: "assistant", content: null },
    { tool_calls: [{ index: 0, id: "call_2", type: "custom", custom: { ...call, input: "" } }] },
    { tool_calls: [{ index: 0, custom: { input: patch.slice(0, 20) } }] },
    { tool_calls: [{ index: 0, custom: { input: patch.slice(20) } }] },
  ]
    .map((delta) => ({
      id: "c1",
      choices: [{ index: 0, delta, finish_reason: null }],
    }))
    .concat({
      id: "c1",
      choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
    } as never)
    .map((chunk) => formatSse({ data: JSON.stringify(chunk) }))
    .join(""),
  responses: [
    { type: "response.created", response: { id: "resp_1", output: [] } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "custom_tool_call", id: "ctc_1", call_id: "call_2", ...call, input: "" },
    },
    ...[patch.slice(0, 20), patch.slice(20)].map((delta) => ({
      type: "response.custom_tool_call_input.delta",
      item_id: "ctc_1",
      output_index: 0,
      delta,
    })),
    {
      type: "response.custom_tool_call_input.done",
      item_id: "ctc_1",
      output_index: 0,
      input: patch,
    },
    { type: "response.completed", response: answers.responses },
  ]
    .map((event) => formatSse({ event: event.type, data: JSON.stringify(event) }))
    .join(""),
};
