// Converted streams whose upstream sends everything, but does not close properly: the answer is still complete, as on direct
// routes.
import { expect, it } from "vitest";
import { byName, conversions, convertedPairs, names } from "../conversion/world.ts";
import type { Answer } from "../support/recorder.ts";

const world = conversions();

/** Sends all frames of an upstream except the optional end marker, and then resets or keeps the connection. */
const saysAll =
  (frames: readonly string[], isReset: boolean): Answer =>
  (_request, response) => {
    const said = frames.filter(
      (frame) => !frame.includes("[DONE]") && !frame.includes("message_stop"),
    );
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(said.join(""), () => isReset && setTimeout(() => response.destroy(), 30));
  };

const resetting = convertedPairs.map(
  ([from, to]) => [from, to, "resets its connection", true] as const,
);
// Only one caller per upstream, because each waits a second for the close.
const leaving = names.map((to, index) => {
  const from = names[(index + 1) % names.length]!;
  return [from, to, "leaves its connection open", false] as const;
});

it.each([...resetting, ...leaving])(
  "T16: a caller of %s gets a complete answer from %s, which sends all content and then %s",
  async (from, to, _way, isReset) => {
    const { frames } = byName[to];
    const started = performance.now();
    const { events } = await world.stream(from, to, {}, saysAll(frames, isReset));
    expect(byName[from].endsNormally(events)).toBe(true);
    // Waiting for the close would take two minutes.
    expect(performance.now() - started).toBeLessThan(60_000);
  },
);
