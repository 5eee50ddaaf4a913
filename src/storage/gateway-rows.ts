/** The rows of the processes that serve this database. Times are the database's, so that different clocks do no harm. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Queryable } from "./queryable.ts";

/** The condition of a process. */
export interface GatewayReport {
  readonly id: string;
  readonly version: string;
  /** Calls in flight. */
  readonly inFlight: number;
  /** Milliseconds that the event loop was late, as 99th percentile since the last report. */
  readonly eventLoopP99Ms: number;
  /** The memory that the process uses. */
  readonly memoryBytes: number;
  /**
   * The start of the oldest running call that is not yet in the request log, in the form that ids have; the time of the report if none
   * runs.
   */
  readonly callsSince: string;
  /** Ids of the master keys that it holds, and of the one with which it seals new values. */
  readonly masterKeys: { readonly held: readonly string[]; readonly sealing: string };
}

export interface GatewayRow extends Omit<GatewayReport, "masterKeys" | "callsSince"> {
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
}

type Columns = SnakeCased<Omit<GatewayRow, "memoryBytes">> & { readonly memory_bytes: bigint };

const rowsMax = 500;

/** Reports the condition of a process; the first report adds its row. One statement, one row. */
export async function reportGateway(database: Queryable, report: GatewayReport): Promise<void> {
  await database.query(
    `insert into gateways (id, version, started_at, last_seen_at, in_flight, event_loop_p99_ms, memory_bytes,
       master_keys, sealing_key, calls_since)
     values ($1, $2, now(), now(), $3, $4, $5, $6, $7, $8)
     on conflict (id) do update set last_seen_at = now(), in_flight = excluded.in_flight,
       event_loop_p99_ms = excluded.event_loop_p99_ms, memory_bytes = excluded.memory_bytes,
       master_keys = excluded.master_keys, sealing_key = excluded.sealing_key,
       calls_since = excluded.calls_since`,
    [
      report.id,
      report.version,
      report.inFlight,
      report.eventLoopP99Ms,
      report.memoryBytes,
      report.masterKeys.held,
      report.masterKeys.sealing,
      report.callsSince,
    ],
  );
}

/** Removes a process that ends, and those without a report for a day. */
export async function forgetGateway(database: Queryable, id: string): Promise<void> {
  await database.query(
    "delete from gateways where id = $1 or last_seen_at < now() - interval '1 day'",
    [id],
  );
}

/** Returns the processes with a report within a day, the oldest first. */
export async function listGateways(database: Queryable): Promise<GatewayRow[]> {
  const rows = await database.query<Columns>(
    `select id, version, started_at, last_seen_at, in_flight, event_loop_p99_ms, memory_bytes from gateways
     where last_seen_at >= now() - interval '1 day' order by started_at, id limit ${rowsMax}`,
    [],
  );
  return rows.map((row) => ({ ...camelCased(row), memoryBytes: Number(row.memory_bytes) }));
}
