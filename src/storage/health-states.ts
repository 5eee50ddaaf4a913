/**
 * What the gateways found of providers, for all of them to know: circuits and keys that are left alone. One row each, which
 * the last one to say something holds. Times are the database's own; gateways give and get durations. docs/routing.md.
 */
import type { Queryable } from "./queryable.ts";

/** A state that one gateway came to, as it says it. Milliseconds. */
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

/** Writes what changed at `gateway`, and returns what holds now: at most 2,000 rows, those changed last. */
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

/** Takes the probe of a circuit for `probeMs`: 0 where it is `gateway`'s, else the milliseconds until it may be. */
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
