/**
 * Reads an image stream: `image_generation.partial_image`, `image_edit.partial_image`, their `.completed`, and `error`. Pure: bytes in,
 * events out, wherever they are cut. Wire: no `[DONE]`; fewer partial images than requested are legal. Seedream sends the picture as
 * `image_generation.partial_succeeded`, and `.completed` has only the usage.
 */
import type { WireObject } from "../../base/json.ts";
import { createSseParser, SseOverflowError, type SseEvent } from "../../base/sse.ts";
import { reportedAmount } from "../../base/usage.ts";
import { base64In, imagesIn, imageTokensIn, renderedIn, resultOf } from "./image-answer.ts";
import type { MediaRefusal, MediaResult, MediaState, Rendered, ReportedUsage } from "./types.ts";
import { errorInBody, isSuccess, readObject, readRefusal, textIn, unusable } from "./wire.ts";

/** One event of an image stream. */
export type ImageEvent =
  | {
      readonly type: "partial";
      /** From 0. */
      readonly index: number;
      readonly base64: string;
      readonly rendered: Rendered;
    }
  | {
      readonly type: "completed";
      /** Some gateways in front of a vendor give its address. */
      readonly result: MediaResult;
      readonly rendered: Rendered;
      readonly reported: ReportedUsage;
    }
  /** The stream failed, or cannot be read. No event follows. */
  | { readonly type: "error"; readonly refusal: MediaRefusal };

export interface ImageEventReader {
  /** Reads the next bytes; returns the events that they complete. */
  push(bytes: Uint8Array): ImageEvent[];
  /** Number of bytes that wait for the end of their event, or for a later one. */
  readonly heldBytes: number;
  /** Ends the stream; returns an `error` if no picture was completed. */
  end(): ImageEvent[];
}

/** A lossless picture of 3840x2160, in base64. */
const eventBytesMax = 64 * 1024 * 1024;

const broken = (reason: string): ImageEvent => ({
  type: "error",
  refusal: unusable(502, reason),
});

/** Creates a reader for one stream. `roomBytes` also bounds an event, because several copies of its picture are in memory for a moment. */
export function createImageEventReader(roomBytes = Infinity): ImageEventReader {
  const parser = createSseParser(Math.min(eventBytesMax, roomBytes));
  let completed = false;
  let failed = false;
  /** The picture of an event before the one with its usage. */
  let earlier: MediaResult | undefined;

  function taken(events: readonly SseEvent[]): ImageEvent[] {
    const read: ImageEvent[] = [];
    for (const event of events) {
      if (failed) break;
      const next = eventOf(event, earlier);
      if (!next) continue;
      if (next.type === "earlier") {
        earlier = next.result;
        continue;
      }
      completed ||= next.type === "completed";
      failed = next.type === "error";
      read.push(next);
    }
    return read;
  }

  /** Runs the parser, whose only error is an event that is too long. */
  function guarded(step: () => SseEvent[]): ImageEvent[] {
    if (failed) return [];
    try {
      return taken(step());
    } catch (error) {
      if (!(error instanceof SseOverflowError)) throw error;
      failed = true;
      return [broken("its stream has an event that is too long")];
    }
  }

  return {
    push: (bytes) => guarded(() => parser.push(bytes)),
    get heldBytes() {
      const earlierBytes = earlier?.from === "base64" ? earlier.base64.length : 0;
      return parser.heldBytes + earlierBytes;
    },
    end() {
      const last = guarded(() => parser.end());
      if (completed || failed) return last;
      failed = true;
      return [...last, broken("its stream ended without a picture")];
    },
  };
}

interface EarlierPicture {
  readonly type: "earlier";
  readonly result: MediaResult;
}

const kinds = /^image_(?:generation|edit)\.(partial_image|partial_succeeded|completed)$/;

/** Reads one event; undefined for unknown ones, such as `[DONE]`. */
function eventOf(
  { event, data }: SseEvent,
  earlier: MediaResult | undefined,
): ImageEvent | EarlierPicture | undefined {
  const bytes = Buffer.from(data);
  const wire = readObject(bytes);
  if (!wire) return undefined;
  if (event === "error" || wire["type"] === "error" || (wire["error"] ?? null) !== null)
    return { type: "error", refusal: errorInBody(502, bytes) };
  const type = textIn(wire["type"]) ?? event ?? "";
  switch (kinds.exec(type)?.[1]) {
    case "partial_image":
      return previewOf(wire);
    case "partial_succeeded": {
      const result = resultOf(wire);
      return result && { type: "earlier", result };
    }
    case "completed":
      return completedOf(wire, earlier);
    default:
      return undefined;
  }
}

/** Previews are extras: if one cannot be read, the picture itself is still waited for. */
function previewOf(wire: WireObject): ImageEvent | undefined {
  const base64 = base64In(wire["b64_json"]);
  const index = reportedAmount(wire["partial_image_index"]) ?? 0;
  return base64 === undefined
    ? undefined
    : { type: "partial", index, base64, rendered: renderedIn(wire) };
}

function completedOf(wire: WireObject, earlier: MediaResult | undefined): ImageEvent {
  const result = resultOf(wire) ?? earlier;
  if (result === undefined) return broken("its stream has an event without a picture");
  const reported = imageTokensIn(wire["usage"]);
  return { type: "completed", result, rendered: renderedIn(wire), reported };
}

/** The start of a stream of events; JSON never starts like this. */
const eventStart = /^\ufeff?\s*(?:event|data|id|retry)?:/;
const startBytes = 64;

/** Reads the whole answer to an image request: a list of pictures, or events if a vendor streams without being asked. */
export function imagesOrEventsIn(status: number, body: Buffer): MediaState | MediaRefusal {
  if (!eventStart.test(body.toString("utf8", 0, startBytes))) return imagesIn(status, body);
  return isSuccess(status) ? stateOfEvents(body) : readRefusal(status, firstDataIn(body));
}

const refusalBytesMax = 65_536;

/** The data of the first event. */
function firstDataIn(body: Buffer): Buffer {
  const parser = createSseParser();
  const [first] = [...parser.push(body.subarray(0, refusalBytesMax)), ...parser.end()];
  return Buffer.from(first?.data ?? "");
}

function stateOfEvents(body: Buffer): MediaState | MediaRefusal {
  const reader = createImageEventReader();
  const events = [...reader.push(body), ...reader.end()];
  const completed = events.filter((event) => event.type === "completed");
  const [first] = completed;
  const failed = events.find((event) => event.type === "error");
  // A stream that was asked for ends with its picture, too: what follows is not read.
  if (first === undefined && failed) return failed.refusal;
  return {
    state: "succeeded",
    results: completed.map(({ result }) => result),
    reported: first!.reported,
    rendered: first!.rendered,
  };
}
