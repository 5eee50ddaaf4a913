/**
 * The database's clock, read by each gateway: for moments that several gateways compare, such as the end of a lease, a deadline,
 * the age of a key or a file. What the clock of a gateway's own machine says does not matter to it, and when that jumps neither.
 */
import type { Clock } from "../base/clock.ts";
import type { Queryable } from "./queryable.ts";

/** A clock that is to be closed. */
export interface DatabaseClock extends Clock {
  close(): Promise<void>;
}

const everyMs = 10_000;
/** The best of so many counts at first: a start is a busy moment. */
const firstMeasures = 3;

/** The database's time beside the process's own, and how wrong that may be. */
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
 * Opens the clock: asks the database at once, and every 10 s after that. Between two looks, and while the database is away, it
 * goes on by the processor's own count, which no setting of a clock moves.
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
      // A slow answer says less than what is known: it counts where it cannot be the answer's delay.
      if (Math.abs(found.offsetMs - known.offsetMs) > found.doubtMs) known = found;
    } catch {
      // The database is away; the next look will tell.
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
