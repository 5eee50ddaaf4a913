/** The limiter of a running gateway, with what it does by itself. */
import { newId } from "../base/ids.ts";
import type { Database } from "../storage/index.ts";
import { Exchange } from "./exchange.ts";
import { createRateLimiter, type RateLimiter } from "./limiter.ts";
import { askDatabase } from "./take.ts";

/** Calls of a gateway that died count for so long. */
const leaseMs = 60_000;

export interface Rates extends RateLimiter {
  close(): void;
}

/** Limits on `database`, shared with all gateways on it. `close` ends what runs by itself. */
export function openRates(database: Database): Rates {
  const send = askDatabase(database, newId("gw"), leaseMs);
  const limiter = createRateLimiter(new Exchange(send));
  const beat = setInterval(() => limiter.heartbeat(), leaseMs / 3).unref();
  return { ...limiter, close: () => clearInterval(beat) };
}

/** Forgets limits that nobody used for two minutes, and calls of gateways that died. */
export async function sweepRates(database: Database): Promise<void> {
  await database.query("select rate_sweep()");
}
