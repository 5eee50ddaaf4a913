/** What is seen of the ledger's batches: a span for each, in a trace of its own, because its calls are many. */
import type { Tracer } from "../base/tracing.ts";
import type { BatchWatch } from "../ledger/index.ts";

/** Undefined where nobody watches. */
export function watchBatches(tracer: Tracer | undefined): BatchWatch | undefined {
  if (tracer === undefined) return undefined;
  return ({ keys, entries, restore }) => {
    const span = tracer.start("client", "ledger batch");
    return (error) => {
      span.set({
        "db.system.name": "postgresql",
        "tollgate.ledger.keys": keys.length,
        "tollgate.ledger.entries": entries.length,
        "tollgate.ledger.restore": restore,
      });
      const { code = "failed" } = (error ?? {}) as { readonly code?: string };
      span.end(error === undefined ? undefined : code);
    };
  };
}
