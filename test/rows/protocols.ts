/**
 * The four text protocols, written by hand: a minimal request, one answer whole and as a stream, and the place of the text in each.
 * All four answers have the same text and usage.
 */
import type { SseEvent } from "../../src/base/sse.ts";

type Body = Record<string, unknown>;

/** Every answer has this text, and this usage: 100 tokens in, 40 of them from a cache; 20 out, 5 of them reasoning. */
export const answerText = "Größe: 三 🙂 done";
/** The upstreams' name of the model, which callers must never see. */
export const upstreamModel = "talk-2024-11-20";

export interface Protocol {
  readonly name: "chat" | "responses" | "messages" | "generate_content";
  readonly endpoint: string;
  /** The id of the gateway's model with this protocol. */
  readonly model: string;
  path(model: string, stream: boolean): string;
  /** A minimal valid body. In generateContent the path has model and stream. */
  body(model: string, stream: boolean): Body;
  /** A new whole answer of the upstream. */
  whole(): Body;
  /** The same answer as raw frames, with the protocol's end marker last if it has one. */
  readonly frames: readonly string[];
  /** Number of frames at the end of `frames` that only mark the end. */
  readonly endFrames: number;
  /** An error frame of the upstream within a stream. */
  readonly errorFrame: string;
  modelOf(answer: Body): unknown;
  textOf(answer: Body): string;
  /** The usage counts of a whole answer that every vendor reports. */
  usageOf(answer: Body): readonly unknown[];
  textOfFrames(frames: readonly SseEvent[]): string;
  /** True if frames end like a complete answer of the protocol. */
  endsNormally(frames: readonly SseEvent[]): boolean;
  /** True if frames end with the protocol's own error. */
  endsWithError(frames: readonly SseEvent[]): boolean;
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (event: string, value: object): string =>
  `event: ${event}\ndata: ${JSON.stringify({ type: event, ...value })}\n\n`;

export const parsed = (frame: SseEvent): Body => JSON.parse(frame.data) as Body;
const isMarker = (frame: SseEvent | undefined): boolean => frame?.data === "[DONE]";
/** The parsed frames without the end marker. */
const bodies = (frames: readonly SseEvent[]): Body[] =>
  frames.filter((frame) => !isMarker(frame)).map(parsed);

/** Reads a path of a parsed body. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (place, step) => (place as Record<string | number, unknown> | undefined)?.[step],
    value,
  );
}
/** The string at a path; empty if there is none. */
export const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};

const counts = (answer: Body, ...[member, ...names]: readonly [string, ...string[]]): unknown[] =>
  names.map((name) => at(answer, member, name));

const pieces = ["Größe: ", "三 🙂", " done"];

const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
const chatChunk = (delta: object, finish: string | null): string =>
  data({
    id: "chatcmpl-7",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: upstreamModel,
    choices: [{ index: 0, delta, finish_reason: finish }],
    usage: null,
  });

export const chat: Protocol = {
  name: "chat",
  endpoint: "chat_completions",
  model: "acme/chat",
  path: () => "/v1/chat/completions",
  body: (model, stream) => ({
    model,
    messages: [{ role: "user", content: "How big?" }],
    ...(stream ? { stream } : {}),
  }),
  whole: () => ({
    id: "chatcmpl-7",
    object: "chat.completion",
    created: 1_700_000_000,
    model: upstreamModel,
    choices: [
      { index: 0, message: { role: "assistant", content: answerText }, finish_reason: "stop" },
    ],
    usage: chatUsage,
  }),
  frames: [
    chatChunk({ role: "assistant", content: "" }, null),
    ...pieces.map((content) => chatChunk({ content }, null)),
    chatChunk({}, "stop"),
    data({
      id: "chatcmpl-7",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: upstreamModel,
      choices: [],
      usage: chatUsage,
    }),
    "data: [DONE]\n\n",
  ],
  endFrames: 3,
  errorFrame: data({ error: { message: "the accelerator melted", code: 503 } }),
  modelOf: (answer) => answer["model"],
  textOf: (answer) => textAt(answer, "choices", 0, "message", "content"),
  usageOf: (answer) =>
    counts(answer, "usage", "prompt_tokens", "completion_tokens", "total_tokens"),
  textOfFrames: (frames) =>
    bodies(frames)
      .map((body) => textAt(body, "choices", 0, "delta", "content"))
      .join(""),
  endsNormally: (frames) => isMarker(frames.at(-1)),
  endsWithError: (frames) =>
    !frames.some(isMarker) &&
    typeof at(parsed(frames.at(-1)!), "error", "message") === "string" &&
    at(parsed(frames.at(-1)!), "choices", 0, "finish_reason") === "error",
};

const response = (status: string, rest: object): Body => ({
  id: "resp_7",
  object: "response",
  created_at: 1_700_000_000,
  model: upstreamModel,
  status,
  error: null,
  incomplete_details: null,
  ...rest,
});
const responsesMessage = {
  id: "msg_7",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: answerText, annotations: [], logprobs: [] }],
};
const responsesWhole = (): Body =>
  response("completed", {
    output: [responsesMessage],
    usage: {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 5 },
    },
  });
const place = { item_id: "msg_7", output_index: 0, content_index: 0 };
const responsesEvents: readonly [string, object][] = [
  ["response.created", { response: response("in_progress", { output: [], usage: null }) }],
  [
    "response.output_item.added",
    { output_index: 0, item: { ...responsesMessage, status: "in_progress", content: [] } },
  ],
  [
    "response.content_part.added",
    { ...place, part: { type: "output_text", text: "", annotations: [], logprobs: [] } },
  ],
  ...pieces.map((delta): [string, object] => [
    "response.output_text.delta",
    { ...place, delta, logprobs: [] },
  ]),
  ["response.output_text.done", { ...place, text: answerText, logprobs: [] }],
  ["response.content_part.done", { ...place, part: responsesMessage.content[0] }],
  ["response.output_item.done", { output_index: 0, item: responsesMessage }],
  ["response.completed", { response: responsesWhole() }],
];

export const responses: Protocol = {
  name: "responses",
  endpoint: "responses",
  model: "acme/responses",
  path: () => "/v1/responses",
  body: (model, stream) => ({ model, input: "How big?", ...(stream ? { stream } : {}) }),
  whole: responsesWhole,
  frames: responsesEvents.map(([event, fields], index) =>
    named(event, { sequence_number: index, ...fields }),
  ),
  endFrames: 1,
  errorFrame: named("error", {
    sequence_number: 4,
    code: "server_error",
    message: "the accelerator melted",
    param: null,
  }),
  modelOf: (answer) => answer["model"],
  textOf: (answer) => textAt(answer, "output", 0, "content", 0, "text"),
  usageOf: (answer) => counts(answer, "usage", "input_tokens", "output_tokens", "total_tokens"),
  textOfFrames: (frames) =>
    bodies(frames)
      .filter((body) => body["type"] === "response.output_text.delta")
      .map((body) => textAt(body, "delta"))
      .join(""),
  endsNormally: (frames) =>
    isMarker(frames.at(-1)) && parsed(frames.at(-2)!)["type"] === "response.completed",
  endsWithError: (frames) => {
    const last = bodies(frames).at(-1)!;
    const told =
      last["type"] === "error" ||
      (last["type"] === "response.failed" && at(last, "response", "status") === "failed");
    return told && !bodies(frames).some((body) => body["type"] === "response.completed");
  },
};

const messagesUsage = { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 20 };
const message = (rest: object): Body => ({
  id: "msg_7",
  type: "message",
  role: "assistant",
  model: upstreamModel,
  stop_sequence: null,
  ...rest,
});

export const messages: Protocol = {
  name: "messages",
  endpoint: "messages",
  model: "acme/messages",
  path: () => "/v1/messages",
  body: (model, stream) => ({
    model,
    max_tokens: 100,
    messages: [{ role: "user", content: "How big?" }],
    ...(stream ? { stream } : {}),
  }),
  whole: () =>
    message({
      content: [{ type: "text", text: answerText }],
      stop_reason: "end_turn",
      usage: messagesUsage,
    }),
  frames: [
    named("message_start", {
      message: message({
        content: [],
        stop_reason: null,
        usage: { ...messagesUsage, output_tokens: 1 },
      }),
    }),
    named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...pieces.map((text) =>
      named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    ),
    named("content_block_stop", { index: 0 }),
    named("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    named("message_stop", {}),
  ],
  endFrames: 2,
  errorFrame: named("error", {
    error: { type: "overloaded_error", message: "the accelerator melted" },
  }),
  modelOf: (answer) => answer["model"],
  textOf: (answer) => textAt(answer, "content", 0, "text"),
  usageOf: (answer) =>
    counts(answer, "usage", "input_tokens", "output_tokens", "cache_read_input_tokens"),
  textOfFrames: (frames) =>
    bodies(frames)
      .filter((body) => body["type"] === "content_block_delta")
      .map((body) => textAt(body, "delta", "text"))
      .join(""),
  endsNormally: (frames) => parsed(frames.at(-1)!)["type"] === "message_stop",
  endsWithError: (frames) =>
    frames.at(-1)!.event === "error" &&
    typeof at(parsed(frames.at(-1)!), "error", "message") === "string" &&
    !frames.some((frame) => frame.event === "message_stop"),
};

const candidate = (text: string, rest: object): Body => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...rest }],
  modelVersion: upstreamModel,
  responseId: "gen-7",
});
const googleUsage = {
  usageMetadata: {
    promptTokenCount: 100,
    cachedContentTokenCount: 40,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: 120,
  },
};

export const generateContent: Protocol = {
  name: "generate_content",
  endpoint: "generate_content",
  model: "acme/gemini",
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: () => ({ contents: [{ role: "user", parts: [{ text: "How big?" }] }] }),
  whole: () => ({ ...candidate(answerText, { finishReason: "STOP" }), ...googleUsage }),
  frames: [
    data(candidate(pieces[0]!, {})),
    data(candidate(pieces[1]!, {})),
    data({ ...candidate(pieces[2]!, { finishReason: "STOP" }), ...googleUsage }),
  ],
  endFrames: 1,
  errorFrame: data({
    error: { code: 503, message: "the accelerator melted", status: "UNAVAILABLE" },
  }),
  modelOf: (answer) => answer["modelVersion"],
  textOf: (answer) => textAt(answer, "candidates", 0, "content", "parts", 0, "text"),
  usageOf: (answer) =>
    counts(answer, "usageMetadata", "promptTokenCount", "candidatesTokenCount", "totalTokenCount"),
  textOfFrames: (frames) =>
    bodies(frames)
      .map((body) => textAt(body, "candidates", 0, "content", "parts", 0, "text"))
      .join(""),
  endsNormally: (frames) => at(parsed(frames.at(-1)!), "candidates", 0, "finishReason") === "STOP",
  endsWithError: (frames) =>
    typeof at(parsed(frames.at(-1)!), "error", "message") === "string" &&
    typeof at(parsed(frames.at(-1)!), "error", "status") === "string" &&
    !bodies(frames).some((body) => at(body, "candidates", 0, "finishReason") === "STOP"),
};

export const protocols: readonly Protocol[] = [chat, responses, messages, generateContent];
/** The protocols for `it.each`, with the name first for the test's title. */
export const eachProtocol = protocols.map((protocol) => [protocol.name, protocol] as const);

/** A protocol's model with a suffix, so that the cheaper provider, `first`, is always asked first. */
export const byPrice = ({ model }: Protocol): string => `${model}:@price`;
