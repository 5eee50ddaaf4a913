/** The rounds that add new calls to the sums of usage. docs/architecture.md. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../base/log.ts";
import type { Database } from "../storage/index.ts";
import { foldUsage } from "../usage/index.ts";
import { startRounds } from "./rounds.ts";

const everyMsDefault = 10_000;

interface UsageFold {
  readonly database: Database;
  readonly log: Log;
  /** Whether this process is the one of its gateway that looks; of several gateways the database lets one fold at a time. */
  readonly sweeps: () => boolean;
  /** Ten seconds if absent; 0: never. */
  readonly everyMs?: number | undefined;
  /** Names of tags that usage is summed by. */
  readonly tags: readonly string[];
}

/** Starts the rounds; the returned function ends them, after the step under way. */
export function startUsageFold(fold: UsageFold): () => Promise<void> {
  const { database, log, sweeps, everyMs = everyMsDefault, tags } = fold;
  return startRounds({
    everyMs,
    sweeps,
    log,
    failure: "usage could not be summed; trying again later",
    round: async (goesOn) => void (await foldUsage(database, restingBetween(goesOn), tags)),
  });
}

const restMsMax = 500;

/** Asked before each step whether to go on: after a rest as long as the step before took, in which calls have the database. */
function restingBetween(goesOn: () => boolean): () => Promise<boolean> {
  let beganMs: number | undefined;
  return async () => {
    if (beganMs !== undefined && goesOn())
      await sleep(Math.min(performance.now() - beganMs, restMsMax));
    beganMs = performance.now();
    return goesOn();
  };
}
