/** Periodic background work, one round at a time. A failed round is logged, and the next one tries again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";

export interface PeriodicWork {
  /** Milliseconds between rounds; 0: never. */
  readonly everyMs: number;
  /** True if the first round starts at once; otherwise it starts after the first interval. */
  readonly atOnce?: boolean;
  /** True if this process does the work for its gateway. */
  readonly sweeps: () => boolean;
  readonly log: Log;
  /** Log message for a failed round. */
  readonly failure: string;
  /**
   * Does one round. Must call `shouldContinue` between its steps, and stop when it returns false. `ended` aborts at that moment: for
   * steps that may take long.
   */
  readonly round: (shouldContinue: () => boolean, ended: AbortSignal) => Promise<void>;
}

/** Starts the rounds. The returned function ends them, after the current step or round. */
export function startPeriodicWork(rounds: PeriodicWork): () => Promise<void> {
  const { everyMs, atOnce = false, sweeps, log, failure, round } = rounds;
  let underWay: Promise<void> | undefined;
  const ending = new AbortController();
  const shouldContinue = (): boolean => !ending.signal.aborted;
  const begin = (): void => {
    if (underWay !== undefined || !sweeps()) return;
    underWay = round(shouldContinue, ending.signal)
      .catch((error: unknown) => log.warn({ err: error }, failure))
      .finally(() => (underWay = undefined));
  };
  const runs = everyMs > 0;
  if (runs && atOnce) begin();
  const timer = runs ? setInterval(begin, everyMs) : undefined;
  return async () => {
    ending.abort();
    clearInterval(timer);
    await underWay;
  };
}

const restMsMax = 500;

/**
 * Returns a function to await before each step of a round; it resolves to whether to continue. It first rests as long as the previous
 * step took, so that calls can use the database.
 */
export function withPauses(shouldContinue: () => boolean): () => Promise<boolean> {
  let beganMs: number | undefined;
  return async () => {
    if (beganMs !== undefined && shouldContinue())
      await sleep(Math.min(performance.now() - beganMs, restMsMax));
    beganMs = performance.now();
    return shouldContinue();
  };
}

/** Repeats a step, with pauses, until it returns 0: nothing was left to do. */
export async function untilNothingLeft(
  shouldContinue: () => boolean,
  step: () => Promise<number>,
): Promise<void> {
  const goesOn = withPauses(shouldContinue);
  while ((await goesOn()) && (await step()) > 0);
}
