/** Frames that the gateway itself writes into a messages stream. */
import type { SseEvent } from "../../base/sse.ts";
import type { AnswerContext } from "../codec.ts";
import { answerId } from "./response.ts";

/** A frame of a messages stream; its data repeats the event's name. */
export const frame = (type: string, fields: object): SseEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
});

/** The input count is an estimate; the final event has the true one (T44). */
export function messageStart(context: AnswerContext, upstreamId: string): SseEvent {
  return frame("message_start", {
    message: {
      id: answerId(upstreamId, context),
      type: "message",
      role: "assistant",
      model: context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: context.inputEstimate,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        // SDKs keep it to the end: null, because zeros would contradict the writes that the end reports.
        cache_creation: null,
        output_tokens: 0,
      },
    },
  });
}
