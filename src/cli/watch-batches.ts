/** What is seen of the ledger's batches: their metrics, and a span for each in a trace of its own, because its calls are many. */
import type { Tracer } from "../base/tracing.ts";
import type { Metrics } from "../http/index.ts";
import type { BatchWatch } from "../ledger/index.ts";

interface Watching {
  readonly metrics: Pick<Metrics, "observeBatch">;
  /** Absent: no traces. */
  readonly tracer: Tracer | undefined;
}

/** Watches batches. */
export const watchBatches =
  ({ metrics, tracer }: Watching): BatchWatch =>
  ({ keys, entries, restore }) => {
    const span = tracer?.start("client", "ledger batch");
    const beganMs = performance.now();
    return (error) => {
      metrics.observeBatch(entries.length, performance.now() - beganMs, error === undefined);
      span?.set({
        "db.system.name": "postgresql",
        "tollgate.ledger.keys": keys.length,
        "tollgate.ledger.entries": entries.length,
        "tollgate.ledger.restore": restore,
      });
      const { code = "failed" } = (error ?? {}) as { readonly code?: string };
      span?.end(error === undefined ? undefined : code);
    };
  };
