/** What the watchers of streams have in common: a live view of what they saw, and an ending given once. Requirements: TXT, T16, T37. */
import type { GatewayError } from "../base/errors.ts";
import type { SseEvent } from "../base/sse.ts";
import type { StreamSeen, StreamTap, WireError } from "./codec.ts";

/** The view of a stream: each member is read anew whenever it is asked for. */
export const viewOf = (read: {
  readonly [Key in keyof StreamSeen]: () => StreamSeen[Key];
}): StreamSeen => ({
  get usage() {
    return read.usage();
  },
  get text() {
    return read.text();
  },
  get ended() {
    return read.ended();
  },
  get error() {
    return read.error();
  },
});

/** Where a stream stands whose last frames are kept back until the charge is committed. */
export interface HeldStream<Phase extends string> {
  /** `broken` after the upstream's error, `over` once the tap gave its ending or its failure. */
  phase: Phase | "broken" | "over";
  ended: boolean;
  /** The frames that end the answer. */
  held: SseEvent[];
  error: WireError | undefined;
}

/** The stream broke: what was kept back is no ending any more. */
export function breakOff(state: HeldStream<string>, error: WireError): readonly SseEvent[] {
  state.error = error;
  state.phase = "broken";
  state.ended = false;
  state.held = [];
  return [];
}

/** An ending or a failure, whichever is asked for first; a broken stream has a failure only. */
export function endOnce(
  state: HeldStream<string>,
  ending: () => readonly SseEvent[],
  failure: (error: GatewayError) => SseEvent,
): Pick<StreamTap, "release" | "fail"> {
  const close = (frames: readonly SseEvent[]): readonly SseEvent[] => {
    state.phase = "over";
    state.held = [];
    return frames;
  };
  return {
    release: () => (state.phase === "over" || state.phase === "broken" ? [] : close(ending())),
    fail: (error) => (state.phase === "over" ? [] : close([failure(error)])),
  };
}
