/** Creates a database on one PostgreSQL server: its pool, limits and signals. docs/architecture.md. */
import type { ClientConfig } from "pg";
import type { Log } from "../base/log.ts";
import { createDatabase, type Database } from "./database.ts";
import { setLimits } from "./limits.ts";
import { createListener } from "./listener.ts";
import { createPool } from "./pool.ts";
import { createSignals } from "./signals.ts";
import { watchResponses } from "./unresponsive-connections.ts";

/** Creates a database; the first statement opens the first connection. */
export function connect(options: {
  readonly server: ClientConfig;
  readonly connectionsMax?: number | undefined;
  readonly log: Log;
  readonly closeRest?: () => Promise<void>;
}): Database {
  const { server, connectionsMax, log } = options;
  const pool = createPool(
    {
      ...server,
      onConnect: setLimits,
      ...(connectionsMax === undefined ? {} : { max: connectionsMax }),
    },
    log,
  );
  const closeUnresponsive = watchResponses(pool);
  const silent = (sinceMs: number): void => {
    const connections = closeUnresponsive(sinceMs);
    if (connections > 0)
      log.warn({ connections }, "the database was silent; connections without an answer were cut");
  };
  return createDatabase({
    pool,
    signals: (database) => createSignals(database, createListener(server, log, silent), log),
    closeRest: options.closeRest ?? (() => Promise.resolve()),
  });
}
