/**
 * Whole answers from streams and streams from whole answers, within one protocol:
 * for upstreams that answer in the other form than they were asked for (T14, T15).
 */
import type { SseEvent } from "../base/sse.ts";
import type { CanonicalEvent } from "./canonical/events.ts";
import { collect, explode } from "./canonical/collect.ts";
import type { JsonObject } from "./canonical/request.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { AnswerContext, Codec, UpstreamCodec } from "./codec.ts";

/** The frames a stream would have had that gave this whole answer. */
export function framesOfWhole(
  codec: Pick<Codec, "decodeResponse" | "encodeStream">,
  answer: JsonObject,
  context: AnswerContext,
): SseEvent[] {
  const encoder = codec.encodeStream(context);
  const frames: SseEvent[] = [];
  for (const event of explode(codec.decodeResponse(answer))) frames.push(...encoder.push(event));
  frames.push(...encoder.end({ kind: "complete" }));
  return frames;
}

/**
 * What a complete stream adds up to.
 * Undefined when the stream broke off or held an error: it is then no answer.
 */
export function collectFrames(
  codec: Pick<UpstreamCodec, "decodeStream">,
  frames: readonly SseEvent[],
): CanonicalResponse | undefined {
  const decoder = codec.decodeStream();
  const events: CanonicalEvent[] = [];
  for (const frame of frames) events.push(...decoder.push(frame));
  events.push(...decoder.end({ kind: "complete" }));
  const finished = events.some((event) => event.type === "finish");
  const failed = events.some((event) => event.type === "error");
  return finished && !failed ? collect(events) : undefined;
}
