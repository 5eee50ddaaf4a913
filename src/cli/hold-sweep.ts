/** The rounds that release reservations whose gateway died or whose lease ran out. */
import type { Log } from "../base/log.ts";
import type { Ledger } from "../ledger/index.ts";
import { startRounds } from "./rounds.ts";

/** Starts the rounds; the returned function ends them, after the one under way. */
export const startHoldSweep = (
  ledger: Ledger,
  log: Log,
  sweeps: () => boolean,
): (() => Promise<void>) =>
  startRounds({
    everyMs: 10_000,
    atOnce: true,
    sweeps,
    log,
    failure: "the sweep of reservations failed",
    async round() {
      const count = await ledger.expire();
      if (count > 0) log.warn({ count }, "released reservations whose calls never ended");
    },
  });
