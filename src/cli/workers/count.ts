/** Number of workers: as configured, else by cores and memory; at most as many as the database has connections for. */
import { availableParallelism } from "node:os";
import { poolConnectionsMax, type Queryable } from "../../storage/index.ts";
import type { Environment } from "../environment.ts";
import { memoryHere } from "./memory.ts";

/** Memory for each worker if their number is not configured. */
const workerBytesMin = 1024 ** 3;

/** The wanted number of workers, before the database's connections are known. `memoryBytes`: of the machine or container. */
export const workersWanted = (
  { workers, databaseUrl }: Pick<Environment, "workers" | "databaseUrl">,
  memoryBytes = memoryHere(),
): number => {
  if (workers !== undefined) return workers;
  if (databaseUrl === undefined) return 1;
  return Math.max(Math.min(availableParallelism(), Math.floor(memoryBytes / workerBytesMin)), 1);
};

/** The server's connection limit for us, and the connections that are reserved or used by others. */
export interface ConnectionsLeft {
  readonly max: number;
  readonly taken: number;
}

export interface WorkersPlan {
  readonly count: number;
  /** Size of each worker's connection pool. */
  readonly poolMax: number;
  /** Why there are fewer workers than wanted; undefined if there are not. */
  readonly reduced: string | undefined;
}

/** With fewer connections, calls of a worker would wait for each other. */
const poolMin = 5;
/** Each worker uses one more connection to listen for signals. */
const listeners = 1;
/** For the supervisor, and for commands beside the gateway. */
const spare = 6;

/** Divides the connections; during a reload there is one more worker. Pools shrink first, then the number of workers. */
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

/**
 * Reads the tightest of the limits of the server, of this user and of this database. The user's counts only its own connections, and the
 * database's only those to it. Only a superuser sees `backend_type` of other users' connections. The server's own processes have no database
 * or no user.
 */
export async function connectionsLeft(database: Queryable): Promise<ConnectionsLeft> {
  const [row] = await database.query<{ max: number; taken: number }>(
    `with others as (
       select usename, datname from pg_stat_activity
       where pid <> pg_backend_pid() and datid is not null and usesysid is not null
         and coalesce(backend_type, 'client backend') = 'client backend'
     ), limits (max, taken) as (
       select current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int
         + coalesce(current_setting('reserved_connections', true)::int, 0) + (select count(*)::int from others)
       union all
       select rolconnlimit, (select count(*)::int from others where usename = rolname)
       from pg_roles where rolname = current_user and rolconnlimit >= 0
       union all
       select datconnlimit, (select count(*)::int from others where datname = d.datname)
       from pg_database d where datname = current_database() and datconnlimit >= 0
     )
     select max, taken from limits order by max - taken limit 1`,
  );
  return row!;
}
