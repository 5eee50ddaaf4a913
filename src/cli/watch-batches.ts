/** Observes the ledger's batches: metrics, and a span for each batch in its own trace, because a batch serves many calls. */
import type { Log } from "../base/log.ts";
import type { Tracer } from "../base/tracing.ts";
import type { Metrics } from "../http/index.ts";
import type { BatchWatch } from "../ledger/index.ts";
import { isLockTimeout, type LostCommits } from "../storage/index.ts";

interface Watching {
  readonly log: Pick<Log, "warn">;
  readonly metrics: Pick<Metrics, "observeBatch">;
  /** Absent if there are no traces. */
  readonly tracer: Tracer | undefined;
}

export const watchBatches =
  ({ metrics, tracer, log }: Watching): BatchWatch =>
  ({ targets, restore }, answer) => {
    const span = tracer?.start("client", "ledger batch");
    const beganMs = performance.now();
    const entries = targets.reduce((sum, target) => sum + target.entries.length, 0);
    const ended = (code?: string): void => {
      metrics.observeBatch(entries, performance.now() - beganMs, code === undefined);
      span?.set({
        "db.system.name": "postgresql",
        "tollgate.ledger.keys": targets.length,
        "tollgate.ledger.entries": entries,
        "tollgate.ledger.restore": restore,
      });
      span?.end(code);
    };
    answer.then(
      () => ended(),
      (error: { readonly code?: string }) => {
        ended(error.code ?? "failed");
        // After a lock timeout the account's batch is retried automatically.
        if (entries > 0 && !isLockTimeout(error))
          log.warn({ err: error }, "charges could not be written; they are sent again");
      },
    );
  };

const lostCommitsFix =
  "compare the time before the failover with the old server or its WAL; to lose nothing, let commits wait for the standby (synchronous_standby_names)";

/** Logs that a server without the latest commits has replaced the database's primary. */
const logLostCommits =
  (log: Pick<Log, "error">) =>
  ({ batches }: LostCommits): void =>
    log.error(
      { batches, fix: lostCommitsFix },
      "the database lost commits that it had confirmed: charges, tasks and changes of its last moments are not in it",
    );

/** Returns the observers of the ledger. */
export const watchLedger = (watching: Watching & { readonly log: Pick<Log, "error"> }) => ({
  watch: watchBatches(watching),
  lost: logLostCommits(watching.log),
});
