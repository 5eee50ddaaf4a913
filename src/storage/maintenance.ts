/**
 * What PostgreSQL's background processes do and PGlite lacks: vacuum, statistics, checkpoints.
 * It goes over an ordinary connection, so that it never lands inside another client's transaction.
 */
import type pg from "pg";
import type { Log } from "./database.ts";

const everyMs = 30_000;
/** Of so many rounds, one looks at every table; the others only at those whose rows are rewritten all the time. */
const roundsPerFull = 20;
const hotTables = ["ledger_holds", "ledger_accounts", "ledger_spend"];

async function round(pool: pg.Pool, full: boolean): Promise<void> {
  if (full) await pool.query("vacuum (analyze)");
  else {
    const found = await pool.query<{ name: string }>(
      "select relname as name from pg_class where relkind = 'r' and relname = any($1)",
      [hotTables],
    );
    for (const { name } of found.rows) await pool.query(`vacuum (analyze) ${name}`);
  }
  // Without one the write-ahead log would grow, and the start after a crash replays all of it.
  await pool.query("checkpoint");
}

/** Starts the rounds; the returned function ends them, after the one under way. */
export function startMaintenance(pool: pg.Pool, log: Log): () => Promise<void> {
  let rounds = 0;
  let underWay: Promise<void> = Promise.resolve();
  let closing = false;
  const timer = setInterval(() => {
    rounds += 1;
    const full = rounds % roundsPerFull === 0;
    underWay = underWay
      .then(() => (closing ? undefined : round(pool, full)))
      .catch((error: unknown) => {
        if (!closing) log.warn({ err: error }, "database maintenance failed");
      });
  }, everyMs);
  timer.unref();
  return async () => {
    closing = true;
    clearInterval(timer);
    await underWay;
  };
}
