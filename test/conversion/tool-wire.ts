// One conversation with a tool in each protocol, and one answer that calls a tool, as raw JSON and as raw frames.
import { formatSse } from "../../src/base/sse.ts";
import type { JsonObject, ProtocolName } from "../../src/protocols/index.ts";

/** A request with an earlier call and result of the tool, which the model must call again. */
export const requestWith = wire({
  chat: (name, parameters = schema) => ({
    model: "acme/talk",
    messages: [
      { role: "user", content: "Look." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name, arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "seen" },
      { role: "user", content: "Again." },
    ],
    tools: [{ type: "function", function: { name, parameters } }],
    tool_choice: { type: "function", function: { name } },
  }),
  responses: (name, parameters = schema) => ({
    model: "acme/talk",
    input: [
      { role: "user", content: "Look." },
      { type: "function_call", call_id: "call_1", name, arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "seen" },
      { role: "user", content: "Again." },
    ],
    tools: [{ type: "function", name, parameters }],
    tool_choice: { type: "function", name },
  }),
  messages: (name, parameters = schema) => ({
    model: "acme/talk",
    max_tokens: 100,
    messages: [
      { role: "user", content: "Look." },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name, input: {} }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "seen" },
          { type: "text", text: "Again." },
        ],
      },
    ],
    tools: [{ name, input_schema: parameters }],
    tool_choice: { type: "tool", name },
  }),
  generate_content: (name, parameters = schema) => ({
    contents: [
      { role: "user", parts: [{ text: "Look." }] },
      { role: "model", parts: [{ functionCall: { id: "c1", name, args: {} } }] },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name, response: { output: "seen" } } },
          { text: "Again." },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name, parametersJsonSchema: parameters }] }],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [name] } },
  }),
});

type Writer = (name: string, parameters?: JsonObject) => object;

/** Types the literals as JSON. The cast is needed because the JSON type has no optional members. */
function wire(writers: Record<ProtocolName, Writer>) {
  return writers as Record<ProtocolName, (name: string, parameters?: JsonObject) => JsonObject>;
}

const schema: JsonObject = { type: "object", properties: { at: { type: "string" } } };

/** A whole answer that calls the tool. */
export const answerCalling: Record<ProtocolName, (name: string) => JsonObject> = {
  chat: (name) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_2", type: "function", function: { name, arguments: "{}" } }],
        },
      },
    ],
  }),
  responses: (name) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [
      {
        type: "function_call",
        id: "fc_2",
        call_id: "call_2",
        name,
        arguments: "{}",
        status: "completed",
      },
    ],
  }),
  messages: (name) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    stop_sequence: null,
    content: [{ type: "tool_use", id: "toolu_2", name, input: {} }],
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  generate_content: (name) => ({
    candidates: [
      {
        index: 0,
        finishReason: "STOP",
        content: { role: "model", parts: [{ functionCall: { id: "c2", name, args: {} } }] },
      },
    ],
    modelVersion: "m",
  }),
};

const typed = (...events: ({ type: string } & Record<string, unknown>)[]): string =>
  events.map((event) => formatSse({ event: event.type, data: JSON.stringify(event) })).join("");

const plain = (...chunks: object[]): string =>
  chunks.map((chunk) => formatSse({ data: JSON.stringify(chunk) })).join("");

/** The same answer as the text of a stream. */
export const streamCalling: Record<ProtocolName, (name: string) => string> = {
  chat(name) {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
    const call = { index: 0, id: "call_2", type: "function", function: { name, arguments: "" } };
    return (
      plain(
        chunk({ role: "assistant", tool_calls: [call] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        chunk({}, "tool_calls"),
      ) + formatSse({ data: "[DONE]" })
    );
  },
  responses(name) {
    const item = { type: "function_call", id: "fc_2", call_id: "call_2", name, arguments: "" };
    const done = { ...item, arguments: "{}", status: "completed" };
    const response = answerCalling.responses(name);
    const at = { item_id: "fc_2", output_index: 0 };
    return typed(
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...item, status: "in_progress" },
      },
      { type: "response.function_call_arguments.delta", ...at, delta: "{}" },
      { type: "response.function_call_arguments.done", ...at, arguments: "{}" },
      { type: "response.output_item.done", output_index: 0, item: done },
      { type: "response.completed", response },
    );
  },
  messages(name) {
    const block = { type: "tool_use", id: "toolu_2", name, input: {} };
    const message = { ...answerCalling.messages(name), content: [], stop_reason: null };
    return typed(
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: "{}" },
      },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    );
  },
  generate_content: (name) => plain(answerCalling.generate_content(name)),
};

/** Replaces the arguments of each call in a wire text. */
export const calling = (text: string, given: string): string =>
  text
    .replaceAll('"arguments":"{}"', `"arguments":${JSON.stringify(given)}`)
    .replaceAll(/"(input|args)":\{\}/g, (_all, name: string) => `"${name}":${given}`)
    .replaceAll('"partial_json":"{}"', `"partial_json":${JSON.stringify(given)}`)
    .replaceAll('"delta":"{}"', `"delta":${JSON.stringify(given)}`);
