/** Waits for events that must happen. Only a failing test waits in vain, so the time is longer than any slow machine needs. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long tests wait for one event, in milliseconds; `expect.poll` too (vitest.config.ts). It is less than the lease of a
 * reservation (60 s), so that a leaked reservation is not taken for a released one. `npm run mutants` waits less.
 */
export const patienceMs = Number(process.env["TOLLGATE_TEST_PATIENCE_MS"] ?? 40_000);

/** Options of `vi.waitFor`, whose own timeout is one second. */
export const patiently = { timeout: patienceMs, interval: 20 } as const;

/** The longer a test has waited, the less often it asks: each check costs the gateway a few milliseconds of processor time. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 10), 50);

/**
 * Asks every 10 ms, later every 50, until the answer is neither undefined nor false, and returns it. `everyMs` sets a constant
 * interval. Throws with `what` after `withinMs`.
 */
export async function eventually<Found>(
  ask: () => Promise<Found | undefined | false> | Found | undefined | false,
  what: string,
  withinMs: number = patienceMs,
  everyMs?: number,
): Promise<Found> {
  const begun = performance.now();
  for (;;) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    const waited = performance.now() - begun;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(everyMs ?? pauseAfter(waited));
  }
}
