/** Converts a whole response to a stream and back, including citations and items of the vendor's own tools. Traps T14, T15. */
import { isObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { tokenCount } from "../../base/usage.ts";
import type { Json, JsonObject } from "../canonical/request.ts";
import type { AnswerContext } from "../codec.ts";
import { list, member, nonEmpty, objects } from "../read.ts";
import { endMarker } from "../stream-frames.ts";
import { ResponsesReader } from "./read-stream.ts";
import { completeResponse } from "./response-object.ts";

/** A frame without its sequence number. */
type Step = readonly [name: string, members: JsonObject];

/** Returns the stream of a whole response. */
export function framesOf(answer: JsonObject, { model, createdAt }: AnswerContext): SseEvent[] {
  const response = completeResponse({ ...answer }, model, { createdAt });
  const status = nonEmpty(response["status"]) ?? "completed";
  const begun = { ...response, status: "in_progress", output: [], usage: null };
  const unfinished = { completed_at: null, incomplete_details: null, error: null };
  const opening = { response: { ...begun, ...unfinished } };
  const items = objects(response["output"]) as JsonObject[];
  const steps: Step[] = [
    ["response.created", opening],
    ["response.in_progress", opening],
    ...items.flatMap(itemSteps),
    [`response.${status}`, { response: { ...response, status } }],
  ];
  const frames = steps.map(([type, members], sequence_number) => ({
    event: type,
    data: JSON.stringify({ type, sequence_number, ...members }),
  }));
  return [...frames, endMarker];
}

/** Items whose kind is streamed in pieces begin empty; others begin as they are. */
function itemSteps(item: JsonObject, output_index: number): Step[] {
  const at = { item_id: item["id"] ?? null, output_index };
  const { begun, steps } = piecesOf(item, at);
  const isTold = "status" in item;
  const added = isTold ? { ...begun, status: "in_progress" } : begun;
  return [
    ["response.output_item.added", { output_index, item: added }],
    ...steps,
    ["response.output_item.done", { output_index, item }],
  ];
}

function piecesOf(item: JsonObject, at: JsonObject): { begun: JsonObject; steps: Step[] } {
  const { type, content, summary, arguments: written, input } = item;
  if (type === "message")
    return {
      begun: { ...item, content: [] },
      steps: (objects(content) as JsonObject[]).flatMap((part, content_index) =>
        partSteps(part, { ...at, content_index }),
      ),
    };
  if (type === "reasoning")
    return {
      begun: { ...item, summary: [] },
      steps: (objects(summary) as JsonObject[]).flatMap((part, summary_index) =>
        summarySteps(part, { ...at, summary_index }),
      ),
    };
  if (type === "function_call" && typeof written === "string")
    return {
      begun: { ...item, arguments: "" },
      steps: pieceSteps("response.function_call_arguments", "arguments", written, at),
    };
  if (type === "custom_tool_call" && typeof input === "string")
    return {
      begun: { ...item, input: "" },
      steps: pieceSteps("response.custom_tool_call_input", "input", input, at),
    };
  // The bytes are sent once, with the end of the item.
  const begun = type === "image_generation_call" ? { ...item, result: null } : item;
  return { begun, steps: [] };
}

function partSteps(part: JsonObject, at: JsonObject): Step[] {
  const { type, text, refusal, annotations, logprobs } = part;
  const isText = type === "output_text";
  const said = nonEmpty(isText ? text : refusal) ?? "";
  const told = member("logprobs", isText ? (logprobs ?? []) : undefined);
  const begun = isText
    ? { ...part, text: "", annotations: [], logprobs: [] }
    : { ...part, refusal: "" };
  const name = isText ? "response.output_text" : "response.refusal";
  const noted = (objects(annotations) as JsonObject[]).map((annotation, annotation_index): Step => [
    "response.output_text.annotation.added",
    { ...at, annotation_index, annotation },
  ]);
  const place = { ...at, ...told };
  const [delta, done] = pieceSteps(name, isText ? "text" : "refusal", said, place);
  return [
    ["response.content_part.added", { ...at, part: begun }],
    ...(said === "" ? [] : [delta!]),
    ...noted,
    done!,
    ["response.content_part.done", { ...at, part }],
  ];
}

function summarySteps(part: JsonObject, at: JsonObject): Step[] {
  const name = "response.reasoning_summary_text";
  return [
    ["response.reasoning_summary_part.added", { ...at, part: { ...part, text: "" } }],
    ...pieceSteps(name, "text", nonEmpty(part["text"]) ?? "", at),
    ["response.reasoning_summary_part.done", { ...at, part }],
  ];
}

/** A text in one piece, followed by its end. */
const pieceSteps = (name: string, key: string, text: string, at: JsonObject): Step[] => [
  [`${name}.delta`, { ...at, delta: text }],
  [`${name}.done`, { ...at, [key]: text }],
];

/**
 * Returns the whole response of a stream: the object of its last event, with all items and parts. Some vendors omit items there, all or some;
 * then those of earlier frames are used. Undefined if the stream broke off.
 */
export function answerFromFrames(frames: readonly SseEvent[]): JsonObject | undefined {
  const reader = new ResponsesReader();
  /** By place: items may end in another order than they began. */
  const items = new Map<number, Json>();
  for (const event of frames) {
    const read = reader.read(event);
    if (read.type === "step" && read.name === "response.output_item.done") {
      const { item, output_index: index } = read.frame;
      const at = tokenCount(index, items.size);
      if (isObject(item)) items.set(at, structuredClone(item) as JsonObject);
    }
    if (read.type !== "response" || !read.isLast) continue;
    const { response } = read;
    if (reader.error || read.error) return undefined;
    const told = list(response["output"]).length;
    if (told > 0 && told >= items.size) return response;
    const output = [...items].toSorted(([one], [other]) => one - other).map(([, item]) => item);
    return output.length > 0 ? { ...response, output } : undefined;
  }
  return undefined;
}
