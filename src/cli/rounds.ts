/** Work that comes again and again beside the calls, one round at a time. What fails is logged, and the next round tries again. */
import type { Log } from "../base/log.ts";

export interface Rounds {
  /** 0: never. */
  readonly everyMs: number;
  /** The first one begins at once; otherwise after the first pause. */
  readonly atOnce?: boolean;
  /** Whether this process is the one of its gateway that does it. */
  readonly sweeps: () => boolean;
  readonly log: Log;
  /** What the log says of a round that failed. */
  readonly failure: string;
  /** Asks between its steps whether it goes on: no more once the rounds are to end. */
  readonly round: (goesOn: () => boolean) => Promise<void>;
}

/** Starts the rounds; the returned function ends them, after the one under way, or its step. */
export function startRounds(rounds: Rounds): () => Promise<void> {
  const { everyMs, atOnce = false, sweeps, log, failure, round } = rounds;
  let underWay: Promise<void> | undefined;
  let open = true;
  const goesOn = (): boolean => open;
  const begin = (): void => {
    if (underWay !== undefined || !sweeps()) return;
    underWay = round(goesOn)
      .catch((error: unknown) => log.warn({ err: error }, failure))
      .finally(() => (underWay = undefined));
  };
  const runs = everyMs > 0;
  if (runs && atOnce) begin();
  const timer = runs ? setInterval(begin, everyMs) : undefined;
  return async () => {
    open = false;
    clearInterval(timer);
    await underWay;
  };
}
