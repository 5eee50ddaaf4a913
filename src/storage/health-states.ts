/**
 * The provider health that gateways share: circuits, and credentials that are paused. One row each, which the last gateway to report it
 * holds. Times are the database's own; gateways send and receive durations. docs/routing.md.
 */
import type { Queryable } from "./queryable.ts";

/** A change of state, as one gateway reports it. Durations are in milliseconds. */
interface HealthChange {
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly credential: string;
  readonly mark: string;
  readonly holds: boolean;
  readonly pauseMs: number;
  readonly leftMs: number;
}

interface HealthState extends Omit<HealthChange, "kind"> {
  readonly kind: "circuit" | "credential";
  readonly gateway: string;
  readonly version: string;
  readonly probeLeftMs: number;
}

/** Writes the changes of `gateway`, and returns the states that hold now: at most 2,000 rows, the last changed. */
export function exchangeHealth(
  database: Queryable,
  gateway: string,
  changes: readonly HealthChange[],
): Promise<HealthState[]> {
  return database.query<HealthState>(
    `select kind, provider, model, credential, mark, gateway, version::text as version, holds,
       pause_ms::float8 as "pauseMs", left_ms::float8 as "leftMs", probe_left_ms::float8 as "probeLeftMs"
     from health_exchange($1, $2)`,
    [gateway, JSON.stringify(changes)],
  );
}

/** Takes the probe of a circuit for `probeMs`. Returns 0 if `gateway` has it, else the milliseconds until it may take it. */
export async function takeProbe(
  database: Queryable,
  gateway: string,
  { provider, model, probeMs }: { provider: string; model: string; probeMs: number },
): Promise<number> {
  const [row] = await database.query<{ wait: number }>(
    "select health_probe($1, $2, $3, $4)::float8 as wait",
    [gateway, provider, model, probeMs],
  );
  return row!.wait;
}
