/**
 * Reads the frames of a responses stream, for conversion and for the metering of direct routes, with the variations of all vendors. Traps
 * T16, T45.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { noUsage, tokenCount, type ToolUses, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { list, nonEmpty, objectOf } from "../read.ts";
import { nothing, StreamFrames, unread, type AnyEvent } from "../stream-frames.ts";
import { ReportedUsage } from "../reported-usage.ts";
import { isToolPicture, picturesIn, withImageTool, withToolPictures } from "../image-tool.ts";
import { hasUses, mostUses, oneMore, orReported, useOf, usesIn, withUses } from "../tool-uses.ts";
import { decodeError } from "./errors.ts";
import { readUsage } from "./usage.ts";
import { varying } from "./varying.ts";

/** A frame with a response object. */
export interface ResponseEvent {
  readonly type: "response";
  readonly name: string;
  readonly frame: WireObject;
  readonly response: JsonObject;
  /** True if it ends the answer, complete or not. */
  readonly isLast: boolean;
  /** Set for a failed or cancelled response. */
  readonly error: WireError | undefined;
}

/** Any other frame. */
export interface StepEvent {
  readonly type: "step";
  readonly name: string;
  readonly frame: WireObject;
}

/** Names of events that end an answer that failed. */
export const brokenNames: ReadonlySet<string> = new Set(["response.failed", "response.cancelled"]);
const terminalNames = new Set(["response.completed", "response.incomplete", ...brokenNames]);

/** Codex's service and OpenRouter may end any answer with this event, which few clients know. */
const doneName = "response.done";

/** Returns the name of the event that clients wait for. */
function endOf({ status }: JsonObject): string {
  const name = `response.${nonEmpty(status) ?? ""}`;
  return terminalNames.has(name) ? name : "response.completed";
}

/** Names of events that announce a response, or only keep its connection open. */
const openingNames = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
  "keepalive",
]);

/** True for events that tell nothing of the answer; a failed response is none. */
function saysNothing(seen: ResponseEvent | StepEvent | AnyEvent): boolean {
  if (seen.type === "step") return openingNames.has(seen.name);
  if (seen.type !== "response") return true;
  const isEmpty = list(seen.response["output"]).length === 0;
  return seen.error !== undefined || (openingNames.has(seen.name) && isEmpty);
}

/** Reads one stream. It returns nothing after the last event; after an error, only a failed response, which may report usage (T45). */
export class ResponsesReader {
  /** The first error before the end. */
  error: WireError | undefined;
  /** The sequence number of the last event. */
  sequence = -1;
  /** True while only events have come that announce the response. */
  isOpening = true;
  readonly #reported = new ReportedUsage();
  readonly #frames = new StreamFrames(varying);
  #isOver = false;
  /** Uses of the vendor's tools seen so far. */
  #uses: ToolUses = {};
  /** Number of pictures by the vendor's tool seen so far. */
  #pictures = 0;
  /** Usage of the vendor's tools in the last response object, and its usage. */
  #toolUsage: unknown;
  #wireUsage: unknown;

  /** The usage so far; once the answer is over, only usage that covers all of it. */
  get usage(): Usage | undefined {
    const isBare = !this.#isOver && (hasUses(this.#uses) || this.#pictures > 0);
    const reported = this.#reported.read(this.#isOver) ?? (isBare ? noUsage : undefined);
    const uses = this.#isOver ? orReported(this.#uses, this.#wireUsage) : this.#uses;
    const used = withUses(reported, uses);
    const told = withImageTool(used, this.#toolUsage, this.#pictures);
    // Counts before the end leave pictures out.
    return this.#isOver ? told : withToolPictures(told, this.#pictures);
  }

  read(event: SseEvent): ResponseEvent | StepEvent | AnyEvent {
    if (this.#isOver) return nothing;
    const frame = this.#frames.read(event);
    const seen = typeof frame === "string" ? unread[frame] : this.#take(frame, event.event);
    if (seen.type === "error") this.error ??= seen.error;
    this.isOpening &&= saysNothing(seen);
    return seen;
  }

  #take(frame: WireObject, eventName: string | undefined): ResponseEvent | StepEvent | AnyEvent {
    this.sequence = tokenCount(frame["sequence_number"], this.sequence + 1);
    // The event's name from its data, otherwise from its `event:` line; a bare `{error}` counts as an error.
    const name = nonEmpty(frame["type"]) ?? eventName ?? (frame["error"] ? "error" : "message");
    if (name === "error") return { type: name, error: decodeError(200, frame) };
    const { response } = frame;
    if (isObject(response)) return this.#takeResponse(name, frame, response as JsonObject);
    if (name === "response.output_item.done") this.#count(objectOf(frame["item"]));
    return this.error ? nothing : { type: "step", name, frame };
  }

  #count(item: WireObject): void {
    this.#uses = oneMore(this.#uses, useOf(item));
    if (isToolPicture(item)) this.#pictures += 1;
  }

  #takeResponse(wireName: string, frame: WireObject, response: JsonObject): ResponseEvent {
    const name = wireName === doneName ? endOf(response) : wireName;
    if (name !== wireName) frame["type"] = name;
    this.#isOver = terminalNames.has(name);
    this.#uses = mostUses(this.#uses, usesIn(response["output"]));
    this.#pictures = Math.max(this.#pictures, picturesIn(response["output"]));
    this.#toolUsage = response["tool_usage"];
    this.#wireUsage = response["usage"];
    const usage = readUsage(response["usage"]);
    if (usage) this.#reported.take(usage, this.#isOver);
    // Some vendors end each answer with the same event: then only the status tells that it failed.
    const told = [name, `response.${nonEmpty(response["status"]) ?? ""}`];
    const isBroken = this.#isOver && told.some((word) => brokenNames.has(word));
    const error = isBroken ? decodeError(200, frame) : undefined;
    return { type: "response", name, frame, response, isLast: this.#isOver, error };
  }
}
