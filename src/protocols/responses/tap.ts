/**
 * Watches a responses stream on the direct route. Frames with a response object get the canonical model, the others pass unchanged; the
 * terminal event is held back. Requirements: STREAM, traps T16, T37, T45.
 */
import type { GatewayError } from "../../base/errors.ts";
import type { WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import { reportedCount, type Usage } from "../../base/usage.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { TapOptions } from "../codec.ts";
import { nonEmpty } from "../read.ts";
import { endMarker } from "../stream-frames.ts";
import { DirectTap, none } from "../stream-tap.ts";
import { errorMembers, responseError } from "./errors.ts";
import { answerText } from "./facts.ts";
import { brokenNames, ResponsesReader, type ResponseEvent } from "./read-stream.ts";
import { EventCompleter } from "./complete-event.ts";
import { completeResponse } from "./response-object.ts";
import { misreports, writeUsage } from "./usage.ts";

/** The status of a response that its vendor left out. */
const statusByName: ReadonlyMap<string, string> = new Map([
  ["response.created", "in_progress"],
  ["response.in_progress", "in_progress"],
  ["response.queued", "queued"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
  ["response.cancelled", "cancelled"],
]);

/** The tap of one stream. The gateway itself writes the end marker, after the terminal event. */
export class ResponsesTap extends DirectTap {
  readonly #reader = new ResponsesReader();
  readonly #completer = new EventCompleter();
  readonly #options: TapOptions;
  readonly continuesAfterDisconnect: boolean;
  /** The id of the answer: the vendor's, unless its events come before it. */
  #answerId: string | undefined;
  /** The response object of the stream's first event. */
  #response: JsonObject | undefined;
  /** The terminal event. */
  #last: Pick<ResponseEvent, "name" | "frame" | "response"> | undefined;
  #hasFailed = false;

  constructor(options: TapOptions) {
    super();
    this.#options = options;
    this.continuesAfterDisconnect = options.request.background === true;
  }

  get usage(): Usage | undefined {
    return this.#reader.usage;
  }

  get isOpening(): boolean {
    return this.#reader.isOpening;
  }

  protected take(event: SseEvent): readonly SseEvent[] {
    const read = this.#reader.read(event);
    this.error ??= this.#reader.error;
    if (read.type === "response") return this.#takeResponse(read);
    if (read.type !== "step") return none;
    const { name, frame } = read;
    if (name.endsWith(".delta") && !name.startsWith("response.audio")) this.log.add(frame["delta"]);
    const { sequence } = this.#reader;
    this.#answerId ??= this.#ownId;
    const completed = this.#completer.complete({ name, frame, sequence, answerId: this.#answerId });
    if (completed) return [{ event: name, data: JSON.stringify(completed) }];
    return [event.event === undefined ? { event: name, data: event.data } : event];
  }

  #takeResponse({ name, frame, response, isLast, error }: ResponseEvent): readonly SseEvent[] {
    this.#answerId ??= nonEmpty(response["id"]) ?? this.#ownId;
    const { createdAt, model } = this.#options;
    const given = { id: this.#answerId, createdAt, status: statusByName.get(name) };
    completeResponse(response, model, given);
    if (reportedCount(frame["sequence_number"]) === undefined)
      frame["sequence_number"] = this.#reader.sequence;
    if (!isLast) {
      this.#response ??= response;
      return this.error ? none : [{ event: name, data: JSON.stringify(frame) }];
    }
    this.ended = true;
    const missing = error ? none : this.#missingEnds(frame, response);
    this.held = [...missing, { event: name, data: JSON.stringify(frame) }];
    this.#last = { name, frame, response };
    // A failed response in an event of a complete one would look complete.
    this.#hasFailed = brokenNames.has(name);
    this.error ??= error;
    if (this.text === "") this.log.add(answerText(response));
    return none;
  }

  /** The ends of items that the vendor left out, before the end of the answer: its number is then a later one. */
  #missingEnds(frame: WireObject, { output }: JsonObject): SseEvent[] {
    const type = "response.output_item.done";
    const first = Number(frame["sequence_number"]);
    const ends = this.#completer.unended(output);
    if (ends.length > 0) frame["sequence_number"] = first + ends.length;
    return ends.map((members, at) => ({
      event: type,
      data: JSON.stringify({ type, sequence_number: first + at, ...members }),
    }));
  }

  /** Counts that cannot be true are replaced by the billed ones (T51). */
  protected ending(billed?: Usage): readonly SseEvent[] {
    if (billed !== undefined && this.#last && misreports(this.#last.response["usage"])) {
      const { name, frame, response } = this.#last;
      response["usage"] = writeUsage(billed);
      this.held = [...this.held.slice(0, -1), { event: name, data: JSON.stringify(frame) }];
    }
    return [...this.held, endMarker];
  }

  /** Returns the upstream's failed or cancelled response if it sent one, otherwise the gateway's. */
  protected failure(error: GatewayError): readonly SseEvent[] {
    return this.#hasFailed ? this.ending() : [...this.#failed(error), endMarker];
  }

  /** An error before the first response is reported twice: SDKs throw at an `error` event, Codex reads only failed responses. */
  #failed(error: GatewayError): SseEvent[] {
    const begun = this.#response;
    const response = {
      ...(begun ?? this.#unbegun()),
      status: "failed",
      error: responseError(error),
    };
    const told: [string, JsonObject][] = begun ? [] : [["error", errorMembers(error)]];
    told.push(["response.failed", { response }]);
    return told.map(([type, members], index) => {
      const sequence_number = this.#reader.sequence + 1 + index;
      return { event: type, data: JSON.stringify({ type, sequence_number, ...members }) };
    });
  }

  #unbegun(): JsonObject {
    const { createdAt, model } = this.#options;
    return completeResponse({}, model, { id: this.#ownId, createdAt });
  }

  get #ownId(): string {
    return `resp_${this.#options.id}`;
  }
}
