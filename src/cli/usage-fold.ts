/** The rounds that add new calls to the sums of usage. docs/architecture.md. */
import type { Log } from "../base/log.ts";
import type { Database } from "../storage/index.ts";
import { foldUsage } from "../usage/index.ts";

const everyMsDefault = 10_000;

interface UsageFold {
  readonly database: Database;
  readonly log: Log;
  /** Whether this process is the one of its gateway that looks; of several gateways the database lets one fold at a time. */
  readonly sweeps: () => boolean;
  /** Ten seconds if absent; 0: never. */
  readonly everyMs?: number | undefined;
}

/** Starts the rounds, one at a time; the returned function ends them, after the step under way. */
export function startUsageFold({ database, log, sweeps, everyMs }: UsageFold): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  let open = true;
  const round = async (): Promise<void> => {
    try {
      await foldUsage(database, () => open);
    } catch (error) {
      log.warn({ err: error }, "usage could not be summed; trying again later");
    }
    underWay = undefined;
  };
  const begin = (): void => {
    if (sweeps()) underWay ??= round();
  };
  const pauseMs = everyMs ?? everyMsDefault;
  const timer = pauseMs > 0 ? setInterval(begin, pauseMs) : undefined;
  return async () => {
    open = false;
    clearInterval(timer);
    await underWay;
  };
}
