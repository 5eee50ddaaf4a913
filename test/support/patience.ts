/** Waiting for what must happen. Only a test that fails waits in vain, so the time is one that no slow machine needs. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * How long tests wait for one thing, in milliseconds; `expect.poll` too (vitest.config.ts). Less than the lease of a
 * reservation (60 s): one that leaked is not to be taken for one that was given back. `npm run mutants` waits less.
 */
export const patienceMs = Number(process.env["TOLLGATE_TEST_PATIENCE_MS"] ?? 40_000);

/** What `vi.waitFor` takes, whose own patience is a second. */
export const patiently = { timeout: patienceMs, interval: 20 } as const;

/** What has been waited for long is asked for less often: to ask takes the gateway a few milliseconds of a processor each time. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 10), 50);

/**
 * Asks every 10 ms, and in the end every 50 (`everyMs`, for what passes soon, always as often), until the answer is neither
 * undefined nor false, and returns it; throws with `what` after `withinMs`.
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
