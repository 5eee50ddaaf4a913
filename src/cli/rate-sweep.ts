/** The rounds that forget limits nobody uses any more, and calls at once of gateways that died. */
import type { Log } from "../base/log.ts";
import { sweepRates } from "../rates/index.ts";
import type { Database } from "../storage/index.ts";
import { startRounds } from "./rounds.ts";

/** Starts the rounds; the returned function ends them, after the one under way. */
export const startRateSweep = (
  database: Database,
  log: Log,
  sweeps: () => boolean,
): (() => Promise<void>) =>
  startRounds({
    everyMs: 60_000,
    sweeps,
    log,
    failure: "the sweep of limits failed",
    round: () => sweepRates(database),
  });
