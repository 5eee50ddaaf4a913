/** Work that comes again and again beside the calls, one round at a time. What fails is logged, and the next round tries again. */
import type { Log } from "../base/log.ts";

interface Rounds {
  readonly everyMs: number;
  /** The first one begins at once; otherwise after the first pause. */
  readonly atOnce?: boolean;
  /** Whether this process is the one of its gateway that does it. */
  readonly sweeps: () => boolean;
  readonly log: Log;
  /** What the log says of a round that failed. */
  readonly failure: string;
  readonly round: () => Promise<void>;
}

/** Starts the rounds; the returned function ends them, after the one under way. */
export function startRounds(rounds: Rounds): () => Promise<void> {
  const { everyMs, atOnce = false, sweeps, log, failure, round } = rounds;
  let underWay: Promise<void> | undefined;
  const begin = (): void => {
    if (underWay !== undefined || !sweeps()) return;
    underWay = round()
      .catch((error: unknown) => log.warn({ err: error }, failure))
      .finally(() => (underWay = undefined));
  };
  if (atOnce) begin();
  const timer = setInterval(begin, everyMs);
  return async () => {
    clearInterval(timer);
    await underWay;
  };
}
