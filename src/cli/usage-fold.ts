/** The rounds that add new calls to the sums of usage. docs/architecture.md. */
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
  if (everyMs === 0) return () => Promise.resolve();
  let open = true;
  const end = startRounds({
    everyMs,
    sweeps,
    log,
    failure: "usage could not be summed; trying again later",
    round: async () => void (await foldUsage(database, () => open, tags)),
  });
  return () => {
    open = false;
    return end();
  };
}
