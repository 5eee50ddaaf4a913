/** The rounds that release reservations whose gateway died or whose lease ran out. */
import type { Log } from "../base/log.ts";
import type { Ledger } from "../ledger/index.ts";

const sweepEveryMs = 10_000;

/** Starts the rounds; the returned function ends them. */
export function startHoldSweep(ledger: Ledger, log: Log, sweeps: () => boolean): () => void {
  const sweep = (): void => {
    if (!sweeps()) return;
    ledger.expire().then(
      (count) => count > 0 && log.warn({ count }, "released reservations whose calls never ended"),
      (error: unknown) => log.warn({ err: error }, "the sweep of reservations failed"),
    );
  };
  sweep();
  const timer = setInterval(sweep, sweepEveryMs);
  return () => clearInterval(timer);
}
