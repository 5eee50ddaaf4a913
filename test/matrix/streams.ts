/** The cases of each protocol's stream events, member by member, each in a stream at its natural place. */
import type { SseEvent } from "../../src/base/sse.ts";
import type { ProtocolName } from "../../src/protocols/index.ts";
import { items, text, wire, type Wire } from "../transcripts/readers/index.ts";
import { answerCases, answerSources } from "./answers.ts";
import { aroundResponses, response, thought } from "./stream-responses.ts";
import { Matrix, type Case, type Samples } from "./cases.ts";

const data = (value: unknown): SseEvent => ({ data: JSON.stringify(value) });
const named = (value: Wire): SseEvent => ({
  event: text(value["type"]),
  data: JSON.stringify(value),
});

/** Builds a stream's events, as data, around one event. */
type Around = (event: Wire) => Wire[];

/** A chunk of chat completions with one choice, or none. */
export const chatChunk = (choice: Wire | undefined, more: Wire = {}): Wire => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "up",
  choices: choice ? [{ index: 0, delta: {}, finish_reason: null, ...choice }] : [],
  ...more,
});
const chatUsage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };

const aroundChat: Around = (event) => {
  const [choice] = items(event["choices"]);
  const isLast = typeof choice?.["finish_reason"] === "string";
  return [
    chatChunk({ delta: { role: "assistant", content: "" } }),
    chatChunk({ delta: { content: "Hi" } }),
    { ...chatChunk(undefined), ...event },
    ...(isLast ? [] : [chatChunk({ finish_reason: "stop" })]),
    ...(event["usage"] ? [] : [chatChunk(undefined, { usage: chatUsage })]),
  ];
};

const messageStart: Wire = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "up",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1 },
  },
};
const messageDelta: Wire = {
  type: "message_delta",
  delta: { stop_reason: "end_turn", stop_sequence: null },
  usage: { output_tokens: 50 },
};
const blockOf: Readonly<Record<string, Wire>> = {
  text_delta: { type: "text", text: "", citations: null },
  citations_delta: { type: "text", text: "", citations: null },
  input_json_delta: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  thinking_delta: { type: "thinking", thinking: "", signature: "" },
  signature_delta: { type: "thinking", thinking: "", signature: "" },
  compaction_delta: { type: "compaction", content: null, encrypted_content: null },
};
/** The events of a content block in the messages protocol. */
export const aBlock = (index: number, block: Wire, ...deltas: Wire[]): Wire[] => [
  { type: "content_block_start", index, content_block: block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

const aroundMessages: Around = (event) => {
  const type = text(event["type"]);
  const hi = aBlock(0, blockOf["text_delta"]!, { type: "text_delta", text: "Hi" });
  const own = (): Wire[] => {
    if (type === "content_block_start") return aBlock(1, wire(event["content_block"]));
    if (type !== "content_block_delta") return [];
    const delta = wire(event["delta"]);
    const kind = text(delta["type"]);
    const words = { type: "text_delta", text: "Ho" };
    return aBlock(
      1,
      blockOf[kind] ?? {},
      ...(kind === "citations_delta" ? [delta, words] : [delta]),
    );
  };
  return [
    type === "message_start" ? event : messageStart,
    ...hi,
    ...own(),
    type === "message_delta" ? event : messageDelta,
    { type: "message_stop" },
  ];
};

const googleChunk = (candidate: Wire): Wire => ({
  responseId: "r1",
  candidates: [{ index: 0, ...candidate }],
});
const aroundGenerateContent: Around = (event) => {
  const [candidate] = items(event["candidates"]);
  const isLast = typeof candidate?.["finishReason"] === "string";
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 };
  return [
    googleChunk({ content: { role: "model", parts: [{ text: "Hi" }] } }),
    event,
    ...(isLast && event["usageMetadata"]
      ? []
      : [
          {
            ...googleChunk({
              content: { role: "model", parts: [{ text: "" }] },
              ...(isLast ? {} : { finishReason: "STOP" }),
            }),
            ...(event["usageMetadata"] ? {} : { usageMetadata }),
          },
        ]),
  ];
};

interface Source {
  readonly root: string;
  readonly samples: Samples;
  readonly always: readonly string[];
  readonly around: Around;
}

const sources: Readonly<Record<ProtocolName, Source>> = {
  chat: {
    root: "ChatCompletionChunk",
    samples: {
      "choices[].index": [0],
      "tool_calls[].index": [0],
      finish_reason: [null, "stop", "length", "content_filter"],
    },
    always: ["tool_calls[].id", "tool_calls[].function", "function.name", "tool_calls[].type"],
    around: aroundChat,
  },
  responses: {
    root: "ResponseStreamEvent",
    samples: {
      response: [{}],
      output_index: [1],
      content_index: [0],
      summary_index: [0],
      status: ["completed"],
      command_index: [0],
      "output_item.added.item": [thought({})],
    },
    always: ["item.id"],
    around: aroundResponses,
  },
  messages: {
    root: "BetaRawMessageStreamEvent",
    samples: {
      index: [1],
      partial_json: ['{"where":"box"}'],
      "content_block.input": [{}],
      stop_reason: ["end_turn", "max_tokens", "refusal"],
      "message.content": [[]],
    },
    always: [],
    around: aroundMessages,
  },
  generate_content: {
    root: "GenerateContentResponse",
    samples: {
      index: [0],
      jsonPath: ["$.where"],
      partialArgs: [[{ jsonPath: "$.where", stringValue: "box" }]],
    },
    always: [],
    around: aroundGenerateContent,
  },
};

/** Writes an event in each protocol. */
export const writers: Readonly<Record<ProtocolName, (event: Wire) => SseEvent>> = {
  chat: data,
  responses: named,
  messages: named,
  generate_content: data,
};

export interface StreamCase extends Pick<Case, "place" | "value"> {
  readonly kind: string;
  readonly with: readonly SseEvent[];
  readonly without: readonly SseEvent[];
}

/** Every case of a protocol's stream events, as complete streams with a member and without it. */
export function streamCases(protocol: ProtocolName): StreamCase[] {
  const { root, samples, always, around } = sources[protocol];
  const whole = answerSources[protocol];
  const matrix = new Matrix(whole.types(), { ...whole.samples, ...samples }, [
    ...whole.always,
    ...always,
  ]);
  const streamOf = (event: unknown): SseEvent[] => around(wire(event)).map(writers[protocol]);
  return matrix.casesOf(root).map((one) => ({
    place: one.place,
    value: one.value,
    kind: text(wire(one.with)["type"]),
    with: streamOf(one.with),
    without: streamOf(one.without),
  }));
}

/** An answer that a vendor had completely before the stream began, so that one event holds it. */
export interface OnePiece extends Pick<Case, "place"> {
  readonly whole: Wire;
  readonly events: readonly SseEvent[];
}

const numbered = (calls: unknown): Wire =>
  Array.isArray(calls)
    ? { tool_calls: items(calls).map((call, index) => ({ index, ...call })) }
    : {};

export const inOnePiece: Readonly<Record<ProtocolName, (whole: Wire) => Wire[]>> = {
  chat({ choices, ...others }) {
    const told = items(choices).map(({ message: said, ...choice }) => ({
      ...choice,
      delta: { ...wire(said), ...numbered(wire(said)["tool_calls"]) },
    }));
    return [{ ...chatChunk(undefined), ...others, choices: told }];
  },
  responses: (whole) => [
    {
      type: "response.created",
      response: { ...whole, ...response("in_progress", []), id: whole["id"] },
    },
    { type: `response.${text(whole["status"])}`, response: whole },
  ],
  messages: (whole) => [{ type: "message_start", message: whole }, { type: "message_stop" }],
  generate_content: (whole) => [whole],
};

/** Every case of a protocol's whole answers, streamed in one piece. */
export const onePieces = (protocol: ProtocolName): OnePiece[] =>
  answerCases(protocol).map(({ place, with: said }) => {
    const whole = ended(wire(said));
    return { place, whole, events: inOnePiece[protocol](whole).map(writers[protocol]) };
  });

/** Adds members that protocols require and types do not: a finish reason, without which a stream is broken, and unique item ids. */
function ended({ candidates, output, ...whole }: Wire): Wire {
  if (Array.isArray(candidates)) {
    const said = items(candidates).map((one) => ({ finishReason: "STOP", ...one }));
    return { responseId: "r1", ...whole, candidates: said };
  }
  if (!Array.isArray(output)) return whole;
  return {
    ...whole,
    output: items(output).map((item, at) => ("id" in item ? { ...item, id: `id_${at}` } : item)),
  };
}
