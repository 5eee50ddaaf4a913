/** The named events of the responses stream, in the vendor's order, numbered from 0. It ends without `[DONE]`. */
import { pieces } from "../answer.ts";
import type { Json } from "../json.ts";
import { asList, asObject, asText } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Frame } from "../vendor.ts";

interface Story {
  /** The response object while it is in progress, and when it is done. */
  readonly begun: Json;
  readonly finished: Json;
  readonly output: readonly Json[];
  readonly chunkChars: number;
}

/** An event before it has its number. */
type Event = readonly [kind: Frame["kind"], type: string, fields: Json];

function frameOf([kind, type, fields]: Event, number: number): Frame {
  return {
    kind,
    event: type,
    data: JSON.stringify({ type, ...fields, sequence_number: number }),
  };
}

export function* responseFrames(story: Story): Generator<Frame> {
  let number = 0;
  for (const event of eventsOf(story)) yield frameOf(event, number++);
}

/** How the vendor gives up in the middle: an error event, then the response as failed. */
export function brokenFrames(begun: Json, failure: Failure, sent: number): Frame[] {
  const { message, type = "server_error", code = "server_error" } = failure;
  const failed = { ...begun, status: "failed", error: { code, message } };
  return [
    frameOf(["close", "error", { error: { type, code, message, param: null } }], sent),
    frameOf(["close", "response.failed", { response: failed }], sent + 1),
  ];
}

function* eventsOf({ begun, finished, output, chunkChars }: Story): Generator<Event> {
  yield ["open", "response.created", { response: begun }];
  yield ["open", "response.in_progress", { response: begun }];
  for (const [index, item] of output.entries()) {
    yield ["open", "response.output_item.added", { output_index: index, item: emptied(item) }];
    const place = { item_id: item["id"], output_index: index };
    yield* insideOf(item, place, chunkChars);
    yield ["close", "response.output_item.done", { output_index: index, item }];
  }
  yield ["end", `response.${asText(finished["status"])}`, { response: finished }];
}

/** An item as it is first shown: nothing said yet. */
function emptied(item: Json): Json {
  if (item["type"] === "message") return { ...item, status: "in_progress", content: [] };
  if (item["type"] === "reasoning") return { ...item, summary: [] };
  return { ...item, status: "in_progress", arguments: "" };
}

function* insideOf(item: Json, place: Json, chunkChars: number): Generator<Event> {
  if (item["type"] === "message") {
    for (const [at, part] of asList(item["content"]).entries()) {
      yield* textPart(asObject(part), { ...place, content_index: at }, chunkChars);
    }
  } else if (item["type"] === "reasoning") {
    for (const [at, part] of asList(item["summary"]).entries()) {
      yield* summaryPart(asObject(part), { ...place, summary_index: at }, chunkChars);
    }
  } else {
    const given = asText(item["arguments"]);
    for (const delta of pieces(given, chunkChars)) {
      yield ["content", "response.function_call_arguments.delta", { ...place, delta }];
    }
    const done = { ...place, name: item["name"], arguments: given };
    yield ["close", "response.function_call_arguments.done", done];
  }
}

function* textPart(part: Json, place: Json, chunkChars: number): Generator<Event> {
  const text = asText(part["text"]);
  yield ["open", "response.content_part.added", { ...place, part: { ...part, text: "" } }];
  for (const delta of pieces(text, chunkChars)) {
    yield ["content", "response.output_text.delta", { ...place, delta, logprobs: [] }];
  }
  yield ["close", "response.output_text.done", { ...place, text, logprobs: [] }];
  yield ["close", "response.content_part.done", { ...place, part }];
}

function* summaryPart(part: Json, place: Json, chunkChars: number): Generator<Event> {
  const text = asText(part["text"]);
  const type = "response.reasoning_summary";
  yield ["open", `${type}_part.added`, { ...place, part: { ...part, text: "" } }];
  for (const delta of pieces(text, chunkChars)) {
    yield ["content", `${type}_text.delta`, { ...place, delta }];
  }
  yield ["close", `${type}_text.done`, { ...place, text }];
  yield ["close", `${type}_part.done`, { ...place, part }];
}
