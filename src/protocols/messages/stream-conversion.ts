/**
 * Converts a whole answer to a stream and back, in the protocol's own blocks. Keeps results of the vendor's tools, citations and everything
 * else that the canonical form lacks. Traps T14, T15.
 */
import { exactTwinOf } from "../../base/exact-numbers.ts";
import { isObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { AnswerContext } from "../codec.ts";
import { member, nonEmpty, objectOf, objects, parseObject } from "../read.ts";
import { argumentsObject } from "../tool-arguments.ts";
import { frame } from "./frame.ts";
import { completeAnswer } from "./complete.ts";
import { isCall, MessagesReader, wholeInput, type MessagesEvent } from "./read-stream.ts";

/** Returns the stream of a whole answer. */
export function framesOf(answer: JsonObject, { model, inputEstimate }: AnswerContext): SseEvent[] {
  const { content, stop_reason, stop_sequence, stop_details, ...others } = completeAnswer(answer);
  const { container, context_management, usage, ...started } = others;
  const told = objectOf(usage) as JsonObject;
  const blocks = objects(content) as JsonObject[];
  const message = {
    ...started,
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: inputEstimate, ...told, output_tokens: 0 },
  };
  const delta = {
    stop_reason: stop_reason ?? null,
    stop_sequence: stop_sequence ?? null,
    ...member("stop_details", stop_details),
    ...member("container", container),
  };
  return [
    frame("message_start", { message }),
    ...blocks.flatMap(blockFrames),
    frame("message_delta", {
      delta,
      usage: { output_tokens: 0, ...told },
      ...member("context_management", context_management),
    }),
    frame("message_stop", {}),
  ];
}

function blockFrames(block: JsonObject, index: number): SseEvent[] {
  const { start, deltas } = piecesOf(block);
  return [
    frame("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
    frame("content_block_stop", { index }),
  ];
}

/** Splits a block into its start and its deltas. Members without a delta stay in the start. */
function piecesOf(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const { text, thinking, signature, citations } = block;
  if (block["type"] === "text" && typeof text === "string") {
    const cited = objects(citations) as JsonObject[];
    const isCited = cited.length > 0;
    return {
      start: { ...block, text: "", ...(isCited ? { citations: [] } : {}) },
      deltas: [
        ...cited.map((citation) => ({ type: "citations_delta", citation })),
        ...(text === "" ? [] : [{ type: "text_delta", text }]),
      ],
    };
  }
  if (block["type"] === "thinking") {
    return {
      start: { ...block, thinking: "", signature: "" },
      deltas: [
        ...(nonEmpty(thinking) ? [{ type: "thinking_delta", thinking: thinking! }] : []),
        ...(nonEmpty(signature) ? [{ type: "signature_delta", signature: signature! }] : []),
      ],
    };
  }
  const input = isCall(block) ? wholeInput(block) : undefined;
  if (input === undefined) return { start: block, deltas: [] };
  return {
    start: { ...block, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: input }],
  };
}

/** A block being collected; pieces are joined once, at the end. */
interface CollectedBlock {
  readonly block: JsonObject;
  /** By kind of delta, in order of arrival. */
  readonly text: string[];
  readonly input: string[];
  readonly citations: Json[];
}

interface CollectedMessage {
  message: JsonObject;
  /** Members of the message's end, except the stop reason. */
  ending: JsonObject;
  readonly blocks: CollectedBlock[];
  /** By the stream's index. */
  readonly open: Map<unknown, CollectedBlock>;
}

/** Collects a stream into a whole answer; undefined if it broke off. */
export function answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
  const reader = new MessagesReader();
  const whole: CollectedMessage = { message: {}, ending: {}, blocks: [], open: new Map() };
  let isOver = false;
  for (const frame of frames) {
    const read = reader.read(frame);
    if (read.type === "error") return undefined;
    isOver ||= read.type === "message_stop";
    take(whole, read, frame);
  }
  const { stop, usage, wireUsage } = reader;
  if (!reader.hasBegun || (!isOver && stop === undefined)) return undefined;
  return {
    type: "message",
    role: "assistant",
    ...whole.message,
    content: whole.blocks.map(completeBlock),
    ...reader.ending,
    ...whole.ending,
    ...(usage ? { usage: wireUsage as JsonObject } : {}),
  };
}

/** Members that are kept are parsed again from the frame's text: the reader's own objects are valid for one frame only. */
function take(whole: CollectedMessage, read: MessagesEvent, { data }: SseEvent): void {
  const frame = (): JsonObject => exactTwinOf(parseObject(data) ?? {}) as JsonObject;
  switch (read.type) {
    case "message_start": {
      const { content, usage: _told, ...message } = objectOf(frame()["message"]) as JsonObject;
      whole.message = message;
      for (const block of objects(content)) begin(whole, block as JsonObject);
      return;
    }
    case "content_block_start":
      whole.open.set(read.index, begin(whole, objectOf(frame()["content_block"]) as JsonObject));
      return;
    case "content_block_delta":
      takeDelta(whole, read.index, objectOf(frame()["delta"]) as JsonObject);
      return;
    case "content_block_stop":
      whole.open.delete(read.index);
      return;
    case "message_delta": {
      const { delta, context_management: management } = frame();
      const { stop_reason: _reason, stop_sequence: _sequence, ...others } = objectOf(delta);
      const { stop_details: _details, ...ending } = others as JsonObject;
      Object.assign(whole.ending, ending, member("context_management", management));
      return;
    }
    default:
  }
}

function begin({ blocks }: CollectedMessage, block: JsonObject): CollectedBlock {
  const collected = { block: { ...block }, text: [], input: [], citations: [] };
  blocks.push(collected);
  return collected;
}

/** The member that a kind of delta extends, and the block that it begins if none of its kind is open (T7). */
interface DeltaTarget {
  readonly member: string;
  readonly block: JsonObject;
}

const deltaTargets: ReadonlyMap<unknown, DeltaTarget> = new Map<unknown, DeltaTarget>([
  ["text_delta", { member: "text", block: { type: "text", text: "" } }],
  [
    "thinking_delta",
    { member: "thinking", block: { type: "thinking", thinking: "", signature: "" } },
  ],
]);

function takeDelta(whole: CollectedMessage, index: unknown, delta: JsonObject): void {
  const { type, ...members } = delta;
  let known = whole.open.get(index);
  const kind = deltaTargets.get(type);
  if (kind) {
    if (known?.block["type"] !== kind.block["type"]) {
      known = begin(whole, kind.block);
      whole.open.set(index, known);
    }
    known!.text.push(nonEmpty(members[kind.member]) ?? "");
  } else if (!known) return;
  else if (type === "input_json_delta") known.input.push(nonEmpty(members["partial_json"]) ?? "");
  else if (type === "citations_delta") known.citations.push(members["citation"] ?? null);
  // Sent whole: a signature, a compaction summary, or an unknown delta.
  else Object.assign(known.block, members);
}

function completeBlock({ block, text, input, citations }: CollectedBlock): JsonObject {
  const name = block["type"] === "thinking" ? "thinking" : "text";
  if (text.length > 0) block[name] = [nonEmpty(block[name]) ?? "", ...text].join("");
  const cited = block["citations"];
  if (citations.length > 0)
    block["citations"] = [...(Array.isArray(cited) ? cited : []), ...citations];
  const json = input.join("");
  if (json !== "") block["input"] = argumentsObject(json);
  else if (isCall(block) && !isObject(block["input"])) block["input"] = {};
  return block;
}
