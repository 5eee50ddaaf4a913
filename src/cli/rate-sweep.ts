/** The rounds that forget limits nobody uses any more, and calls at once of gateways that died. */
import type { Log } from "../base/log.ts";
import { sweepRates } from "../rates/index.ts";
import type { Database } from "../storage/index.ts";

const sweepEveryMs = 60_000;

/** Starts the rounds; the returned function ends them. */
export function startRateSweep(database: Database, log: Log, sweeps: () => boolean): () => void {
  const timer = setInterval(() => {
    if (!sweeps()) return;
    sweepRates(database).catch((error: unknown) =>
      log.warn({ err: error }, "the sweep of limits failed"),
    );
  }, sweepEveryMs);
  return () => clearInterval(timer);
}
