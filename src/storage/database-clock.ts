/**
 * The database's clock, read by each gateway, for times that several gateways compare: the end of a lease, a deadline, the age of a key or
 * a file. The clock of a gateway's own machine has no influence, not even when it jumps.
 */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "./queryable.ts";

/** A clock that must be closed. */
export interface DatabaseClock extends Clock {
  close(): Promise<void>;
}

const everyMs = 10_000;
/** The start takes the best of this many measurements, because it is a busy moment. */
const firstMeasures = 3;

/** The database's time minus `performance.now`, and the error that this may have. */
interface Measured {
  readonly offsetMs: number;
  readonly doubtMs: number;
}

async function measure(database: Queryable): Promise<Measured> {
  const beganMs = performance.now();
  const [row] = await database.query<{ at: Date }>("select ledger_now() as at", [], {
    name: "database_clock",
  });
  const doubtMs = (performance.now() - beganMs) / 2;
  return { offsetMs: row!.at.getTime() - beganMs - doubtMs, doubtMs: doubtMs + 1 };
}

/**
 * Opens the clock: asks the database now, and then every 10 s. In between, and while the database is away, it runs on the monotonic clock,
 * which no clock setting moves.
 */
export async function openDatabaseClock(database: Queryable): Promise<DatabaseClock> {
  let known = await measure(database);
  for (let count = 1; count < firstMeasures; count += 1) {
    const again = await measure(database);
    if (again.doubtMs < known.doubtMs) known = again;
  }
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    try {
      const found = await measure(database);
      // A slow answer is less precise: use it only if its delay cannot explain the difference.
      if (Math.abs(found.offsetMs - known.offsetMs) > found.doubtMs) known = found;
    } catch {
      // The database is away; try again at the next interval.
    }
    looking = undefined;
  }

  const timer = setInterval(() => void (looking ??= look()), everyMs).unref();
  return {
    now: () => Math.floor(performance.now() + known.offsetMs),
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
