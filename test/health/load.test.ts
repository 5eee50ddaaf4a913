/** One provider of three fails under load, in three ways, and recovers. docs/routing.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortOrLong, isLong } from "../support/long.ts";
import { eventually } from "../support/patience.ts";
import type { Answer } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import {
  breakingOff,
  failing,
  hastyRules,
  takeRequestCounts,
  delayed,
  silent,
  startTrio,
  type Trio,
} from "./support.ts";

/** The pause between two calls of a caller, which takes no processor time. */
const pauseBetweenCalls = () => sleep(shortOrLong(25, 0));

interface Call {
  readonly beganMs: number;
  readonly ok: boolean;
}

let trio: Trio;
beforeAll(async () => {
  trio = await startTrio({ health: hastyRules, firstByteSeconds: 2, models: 1 });
});
afterAll(() => trio.close());

/** Runs `work` while twelve callers call repeatedly, every second call streamed. */
async function underLoad(model: string, work: (calls: readonly Call[]) => Promise<void>) {
  const calls: Call[] = [];
  const stop = new AbortController();
  async function caller(number: number): Promise<void> {
    for (let count = number; !stop.signal.aborted; count += 1) {
      const beganMs = performance.now();
      const answer = await trio.call({ model, stream: count % 2 === 0 });
      const text = await answer.text();
      const ok = answer.status === 200 && /(\[DONE\]\s*|})$/.test(text) && !text.includes("error");
      calls.push({ beganMs, ok });
      await pauseBetweenCalls();
    }
  }
  const callers = Array.from({ length: 12 }, (_one, index) => caller(index));
  try {
    await work(calls);
  } finally {
    stop.abort();
    await Promise.all(callers);
  }
}

/** The share of the next forty or more calls that `a` gets. Fewer calls say nothing, if a slow machine makes few in a while. */
async function shareOfA(): Promise<number> {
  takeRequestCounts(trio);
  const { up } = trio;
  await eventually(
    () => up.a.requests.length + up.b.requests.length + up.c.requests.length >= 40,
    "forty calls",
  );
  const { a, b, c } = takeRequestCounts(trio);
  return a / (a + b + c);
}

const untilShare = (fits: (share: number) => boolean, what: string) =>
  eventually(async () => fits(await shareOfA()), what, 120_000);

const errors = (calls: readonly Call[]) => calls.filter(({ ok }) => !ok).length;
/** The most probes of an open circuit in `ms`: its pause doubles up to the longest one. */
const probesMax = (ms: number): number => 3 + ms / hastyRules.circuit.pauseMsMax;
/** One call in two hundred. If the machine is too slow for two hundred calls between two probes, the number of probes. */
const errorsMax = (calls: readonly Call[], ms: number) =>
  Math.max(calls.length / 200, probesMax(ms));
const since = (calls: readonly Call[], ms: number) => calls.filter(({ beganMs }) => beganMs >= ms);

const troubles: readonly { readonly what: string; readonly trouble: Answer }[] = [
  { what: "errors", trouble: failing },
  { what: "streams that break", trouble: breakingOff },
  { what: "silence", trouble: silent },
];

describe("a failing provider, one of three, under load", () => {
  it.each(shortOrLong(troubles.slice(0, 1), troubles))(
    "$what: it is excluded, fewer than one call in two hundred fails afterwards, and it returns by itself",
    async ({ trouble }) => {
      await underLoad("acme/talk", async (calls) => {
        await untilShare((share) => share > 0.15, "it never got its share");
        trio.up.a.answer(trouble);
        await untilShare((share) => share < 0.05, "it was never left out");
        const openedMs = performance.now();
        takeRequestCounts(trio);
        while (since(calls, openedMs).length < 600) await sleep(50);
        const leftOutMs = performance.now() - openedMs;
        const seen = since(calls, openedMs);
        expect(errors(seen)).toBeLessThanOrEqual(errorsMax(seen, leftOutMs));
        // Only probes reach it: no other call waits for its timeout.
        expect(takeRequestCounts(trio).a).toBeLessThan(7 + probesMax(leftOutMs));
        trio.up.a.answer(answering);
        const healedMs = performance.now();
        await untilShare((share) => share > 0.2, "it never came back");
        const healed = since(calls, healedMs);
        expect(errors(healed)).toBeLessThanOrEqual(errorsMax(healed, performance.now() - healedMs));
      });
    },
  );

  it.skipIf(!isLong)(
    "is avoided by the strategy latency while it is slow, and used again afterwards",
    async () => {
      for (const name of ["b", "c"] as const) trio.up[name].answer(delayed(200));
      await underLoad("acme/talk-1:@latency", async (calls) => {
        await untilShare((share) => share > 0.6, "it never led, though it was the fastest");
        trio.up.a.answer(delayed(600));
        await untilShare((share) => share < 0.3, "it still led, though it was the slowest");
        for (const name of ["b", "c"] as const) trio.up[name].answer(delayed(1_200));
        await untilShare((share) => share > 0.6, "it never led again");
        expect(errors(calls)).toBe(0);
      });
    },
  );
});
