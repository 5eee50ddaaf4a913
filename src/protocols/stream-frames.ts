/**
 * Reads the frames of an upstream's stream before protocol rules apply: keep-alives, end markers and invalid frames are the same in all
 * protocols. Traps T16, T17.
 */
import type { WireObject } from "../base/json.ts";
import type { SseEvent } from "../base/sse.ts";
import type { WireError } from "./codec.ts";
import { FrameReader, type Varying } from "./frame-reader.ts";

/** OpenAI's end marker. Vendors of every protocol send it. */
export const endMarker: SseEvent = { data: "[DONE]" };

/** The frames that any protocol can have. */
export type AnyEvent =
  | { readonly type: "nothing" }
  | { readonly type: "marker" }
  | { readonly type: "error"; readonly error: WireError };

export const nothing: AnyEvent = { type: "nothing" };

/** The events of frames that are no JSON object. */
export const unread = {
  nothing,
  marker: { type: "marker" },
  broken: {
    type: "error",
    error: {
      message: "The upstream sent a stream frame that is not JSON, or not a JSON object.",
    },
  },
} as const satisfies Record<string, AnyEvent>;

/** The frames of one stream. */
export class StreamFrames {
  readonly #reader: FrameReader;

  constructor(varying: Varying) {
    this.#reader = new FrameReader(varying);
  }

  /** Returns the parsed frame, valid until the next read, or the reason why there is none. */
  read(event: SseEvent): WireObject | keyof typeof unread {
    const text = event.data.trim();
    // Google's endpoint for partner models, and gateways before other vendors, send keep-alive comments as data.
    if (text === "" || text.startsWith(":")) return "nothing";
    if (text === endMarker.data) return "marker";
    return this.#reader.read(text) ?? "broken";
  }
}
