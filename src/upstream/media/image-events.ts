/**
 * Reading an image stream: `image_generation.partial_image`, `image_edit.partial_image`, their `.completed`, and `error`.
 * Pure: bytes in, events out, whatever the cuts. Wire: no `[DONE]`; fewer partial images than asked for are legal.
 */
import { createSseParser, SseOverflowError, type SseEvent } from "../../base/sse.ts";
import { reportedAmount } from "../../base/usage.ts";
import { base64In, imagesIn, imageTokensIn, renderedIn } from "./image-answer.ts";
import type { MediaRefusal, MediaState, Rendered, ReportedUsage } from "./types.ts";
import { isSuccess, readObject, textIn, toldError, unusable } from "./wire.ts";

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
      readonly base64: string;
      readonly rendered: Rendered;
      readonly reported: ReportedUsage;
    }
  /** The stream failed, or cannot be read. Nothing follows it. */
  | { readonly type: "error"; readonly refusal: MediaRefusal };

export interface ImageEventReader {
  /** Takes the next bytes; returns the events they complete. */
  push(bytes: Uint8Array): ImageEvent[];
  /** What waits for the end of its event. */
  readonly heldBytes: number;
  /** At the end of the stream; an `error` where no picture was completed. */
  end(): ImageEvent[];
}

/** A picture of 3840x2160 without loss, in base64. */
const eventBytesMax = 64 * 1024 * 1024;

const broken = (reason: string): ImageEvent => ({
  type: "error",
  refusal: unusable(502, reason),
});

/** A reader for one stream. An event has at most `roomBytes`, too: its picture is several times in memory for a moment. */
export function createImageEventReader(roomBytes = Infinity): ImageEventReader {
  const parser = createSseParser(Math.min(eventBytesMax, roomBytes));
  let completed = false;
  let failed = false;

  function taken(events: readonly SseEvent[]): ImageEvent[] {
    const read: ImageEvent[] = [];
    for (const event of events) {
      if (failed) break;
      const next = eventOf(event);
      if (!next) continue;
      completed ||= next.type === "completed";
      failed = next.type === "error";
      read.push(next);
    }
    return read;
  }

  /** Runs the parser, whose only failure is an event that is too long. */
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
      return parser.heldBytes;
    },
    end() {
      const last = guarded(() => parser.end());
      if (completed || failed) return last;
      failed = true;
      return [...last, broken("its stream ended without a picture")];
    },
  };
}

/** One event read; undefined for those that are not ours, such as `[DONE]`. */
function eventOf({ event, data }: SseEvent): ImageEvent | undefined {
  const bytes = Buffer.from(data);
  const wire = readObject(bytes);
  if (!wire) return undefined;
  if (event === "error" || wire["type"] === "error" || (wire["error"] ?? null) !== null)
    return { type: "error", refusal: toldError(502, bytes) };
  const type = textIn(wire["type"]) ?? event ?? "";
  const kind = /^image_(?:generation|edit)\.(partial_image|completed)$/.exec(type)?.[1];
  if (kind === undefined) return undefined;
  const base64 = base64In(wire["b64_json"]);
  if (base64 === undefined) return broken("its stream has an event without a picture");
  const rendered = renderedIn(wire);
  return kind === "completed"
    ? { type: "completed", base64, rendered, reported: imageTokensIn(wire["usage"]) }
    : {
        type: "partial",
        index: reportedAmount(wire["partial_image_index"]) ?? 0,
        base64,
        rendered,
      };
}

/** How a stream of events begins; no JSON does. */
const eventStart = /^\ufeff?\s*(?:event|data|id|retry)?:/;
const startBytes = 64;

/** The answer to an image request, whole: a list of pictures, or the events of a vendor that streams though nobody asked. */
export function imagesOrEventsIn(status: number, body: Buffer): MediaState | MediaRefusal {
  const isStream = isSuccess(status) && eventStart.test(body.toString("utf8", 0, startBytes));
  return isStream ? stateOfEvents(body) : imagesIn(status, body);
}

function stateOfEvents(body: Buffer): MediaState | MediaRefusal {
  const reader = createImageEventReader();
  const events = [...reader.push(body), ...reader.end()];
  const failed = events.find((event) => event.type === "error");
  if (failed) return failed.refusal;
  const completed = events.filter((event) => event.type === "completed");
  const [first] = completed;
  return {
    state: "succeeded",
    results: completed.map(({ base64 }) => ({ from: "base64", base64 })),
    reported: first!.reported,
    rendered: first!.rendered,
  };
}
