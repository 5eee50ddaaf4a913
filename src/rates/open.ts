/** The limiter of a running gateway, with its timer. */
import { newId } from "../base/ids.ts";
import type { Database } from "../storage/index.ts";
import { RateBatcher } from "./rate-batcher.ts";
import { createRateLimiter, type RateLimiter } from "./limiter.ts";
import { grantSender } from "./take.ts";

/** The calls of a crashed gateway count for this time. */
const leaseMs = 60_000;

export interface Rates extends RateLimiter {
  close(): void;
}

/** Opens the limits on `database`, shared by all its gateways. `close` stops the timer. */
export function openRates(database: Database): Rates {
  const send = grantSender(database, newId("gw"), leaseMs);
  const limiter = createRateLimiter(new RateBatcher(send));
  const beat = setInterval(() => limiter.heartbeat(), leaseMs / 3).unref();
  return { ...limiter, close: () => clearInterval(beat) };
}

/** Shortens leases from before the database's clock was set back. Living gateways renew theirs in time. */
const clipLeasesSql = `update rate_calls set lease_until = ledger_now() + interval '1 minute'
  where lease_until > ledger_now() + interval '10 minutes'`;

/** Deletes limits that were unused for two minutes, and calls of crashed gateways. */
export async function sweepRates(database: Database): Promise<void> {
  await database.query(clipLeasesSql);
  await database.query("select rate_sweep()");
}
