/** How many workers there are: as many as asked for, or cores, and at most as many as the database has connections for. */
import { availableParallelism } from "node:os";
import { poolConnectionsMax, type Queryable } from "../../storage/index.ts";
import type { Environment } from "../environment.ts";
import { memoryHere } from "./memory.ts";

/** Where nobody says how many there are, each has so much memory. */
const workerBytesMin = 1024 ** 3;

/** How many are wanted, before the database is asked, of a machine or a container with so much memory. */
export const workersWanted = (
  { workers, databaseUrl }: Pick<Environment, "workers" | "databaseUrl">,
  memoryBytes = memoryHere(),
): number => {
  if (workers !== undefined) return workers;
  if (databaseUrl === undefined) return 1;
  return Math.max(Math.min(availableParallelism(), Math.floor(memoryBytes / workerBytesMin)), 1);
};

/** Connections that the server has for us, and those that it keeps or others have. */
export interface ConnectionsLeft {
  readonly max: number;
  readonly taken: number;
}

export interface WorkersPlan {
  readonly count: number;
  /** Connections of each worker's pool. */
  readonly poolMax: number;
  /** Why there are fewer than wanted; undefined where there are not. */
  readonly reduced: string | undefined;
}

/** With fewer, calls of one worker would wait for each other's. */
const poolMin = 5;
/** Each worker listens for signals on a connection of its own. */
const listeners = 1;
/** For the supervisor, and for commands beside the gateway. */
const spare = 6;

/** Shares the connections out; during a reload there is one worker more. The pools shrink before the workers do. */
export function planWorkers(wanted: number, { max, taken }: ConnectionsLeft): WorkersPlan {
  const free = Math.max(max - taken - spare, 0);
  const poolFor = (count: number): number => Math.floor(free / (count + 1)) - listeners;
  let count = wanted;
  while (count > 1 && poolFor(count) < poolMin) count -= 1;
  const poolMax = Math.min(Math.max(poolFor(count), poolMin), poolConnectionsMax);
  if (count === wanted) return { count, poolMax, reduced: undefined };
  const needed = (wanted + 1) * (poolMin + listeners) + taken + spare;
  return {
    count,
    poolMax,
    reduced: `the database takes ${max} connections and ${taken} are taken or reserved; ${wanted} workers need max_connections of ${needed}`,
  };
}

/** What the server allows this user in this database, and what is reserved or in use by others. */
export async function connectionsLeft(database: Queryable): Promise<ConnectionsLeft> {
  const [row] = await database.query<{ max: number; reserved: number; used: number }>(
    `select least(
         current_setting('max_connections')::int,
         (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
         (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
       ) as max,
       current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
       (select count(*)::int from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()) as used`,
  );
  return { max: row!.max, taken: row!.reserved + row!.used };
}
