// Raw streams of the messages protocol, made for these tests: bytes as a vendor would send them.

const sse = (...frames: [event: string, data: object][]): Uint8Array =>
  Buffer.from(
    frames
      .map(
        ([event, data]) => `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`,
      )
      .join(""),
  );

const startOf = (usage: object): [string, object] => [
  "message_start",
  {
    message: {
      id: "msg_01",
      type: "message",
      role: "assistant",
      model: "vendor-model-2026",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  },
];

const block = (index: number, content_block: object): [string, object] => [
  "content_block_start",
  { index, content_block },
];
const delta = (index: number, fields: object): [string, object] => [
  "content_block_delta",
  { index, delta: fields },
];
const stop = (index: number): [string, object] => ["content_block_stop", { index }];

const head = startOf({
  input_tokens: 10,
  cache_creation_input_tokens: 4,
  cache_read_input_tokens: 90,
  cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 3 },
  output_tokens: 1,
});
const tail: [string, object][] = [
  [
    "message_delta",
    { delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 42 } },
  ],
  ["message_stop", {}],
];

/** Thinking, text with characters of two, three and four bytes, a ping, and a tool call with its arguments in pieces. */
export const toolUse = sse(
  head,
  block(0, { type: "thinking", thinking: "", signature: "" }),
  delta(0, { type: "thinking_delta", thinking: "Let me see" }),
  delta(0, { type: "thinking_delta", thinking: "." }),
  delta(0, { type: "signature_delta", signature: "c2lnbmVk" }),
  stop(0),
  ["ping", {}],
  block(1, { type: "text", text: "" }),
  delta(1, { type: "text_delta", text: "Größe: 三 " }),
  delta(1, { type: "text_delta", text: "🙂\n" }),
  stop(1),
  block(2, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
  delta(2, { type: "input_json_delta", partial_json: "" }),
  delta(2, { type: "input_json_delta", partial_json: '{"where": "the' }),
  delta(2, { type: "input_json_delta", partial_json: ' shelf"}' }),
  stop(2),
  ...tail,
);

/** The same call with its whole input in the block's start. */
export const wholeInput = sse(
  head,
  block(0, { type: "tool_use", id: "toolu_1", name: "look", input: { where: "the shelf" } }),
  stop(0),
  ...tail,
);

/** An upstream that counts tokens only at the end. */
export const zeroStart = sse(
  startOf({ input_tokens: 0, output_tokens: 0 }),
  block(0, { type: "text", text: "" }),
  delta(0, { type: "text_delta", text: "Hi" }),
  stop(0),
  [
    "message_delta",
    {
      delta: { stop_reason: "end_turn" },
      usage: { input_tokens: 25, cache_read_input_tokens: 5, output_tokens: 2 },
    },
  ],
  ["message_stop", {}],
);

/** A stream with a stop reason that closes without its end marker. */
export const withoutMarker = sse(
  head,
  block(0, { type: "text", text: "" }),
  delta(0, { type: "text_delta", text: "Hi" }),
  ["message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }],
);

/** A stream that is cut inside a block. */
export const cut = sse(
  head,
  block(0, { type: "text", text: "" }),
  delta(0, { type: "text_delta", text: "Hi" }),
);

export const failing = sse(
  head,
  block(0, { type: "text", text: "" }),
  delta(0, { type: "text_delta", text: "Hi" }),
  ["error", { error: { type: "overloaded_error", message: "Overloaded, and a long story." } }],
);

export const duplicateStart = sse(
  head,
  head,
  block(0, { type: "text", text: "Hi" }),
  stop(0),
  ...tail,
);

/** A proxy on the way started the answer again in the middle of a call. */
export const splicedStart = sse(
  head,
  block(0, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
  delta(0, { type: "input_json_delta", partial_json: '{"where": "the' }),
  ["message_start", { message: { id: "msg_02", usage: {} } }],
  block(0, { type: "tool_use", id: "toolu_2", name: "look", input: {} }),
  stop(0),
  ...tail,
);

export const withoutEventLines = Buffer.from(
  Buffer.from(toolUse)
    .toString()
    .replace(/^event: .*\n/gm, ""),
);

/** Text arrives on a block that is a tool call, and on an index that never began. */
export const misplaced = sse(
  head,
  block(0, { type: "tool_use", id: "toolu_1", name: "look", input: {} }),
  delta(0, { type: "input_json_delta", partial_json: "{}" }),
  delta(0, { type: "text_delta", text: "Done." }),
  delta(7, { type: "thinking_delta", thinking: "Hm." }),
  ...tail,
);
