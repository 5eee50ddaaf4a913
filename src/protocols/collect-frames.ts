/** Collects streams into whole answers, for upstreams that stream when a whole answer was requested (T15). */
import type { SseEvent } from "../base/sse.ts";
import { collect } from "./canonical/collect.ts";
import type { CanonicalResponse } from "./canonical/response.ts";
import type { UpstreamCodec } from "./codec.ts";

/** Collects a complete stream. Undefined if the stream broke off or had an error: it is then no answer. */
export function collectFrames(
  codec: Pick<UpstreamCodec, "decodeStream">,
  frames: readonly SseEvent[],
): CanonicalResponse | undefined {
  const decoder = codec.decodeStream();
  const read = frames.flatMap((frame) => decoder.push(frame));
  const events = [...read, ...decoder.end({ kind: "complete" })];
  const finished = events.some((event) => event.type === "finish");
  const failed = events.some((event) => event.type === "error");
  return finished && !failed ? collect(events) : undefined;
}
