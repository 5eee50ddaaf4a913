/**
 * The wait of a committed change for the other gateways: it never makes the change fail, and never lasts longer than a second.
 * T73.
 */
import { describe, expect, it } from "vitest";
import type { Listener } from "../../src/storage/listener.ts";
import type { Queryable } from "../../src/storage/index.ts";
import { createSignals } from "../../src/storage/signals.ts";
import { silentLog } from "../support/postgres.ts";

const away = new Error("Connection terminated unexpectedly");

/** Signals of a gateway beside another gateway that does not answer. */
function signalsOver(listeners: Listener["listeners"], query: () => Promise<never[]>) {
  const listener: Listener = {
    start: () => undefined,
    healthy: () => true,
    name: () => "1",
    close: async () => undefined,
    number: 1,
    absent: async () => [],
    listeners,
  };
  const database: Queryable = { query };
  const signals = createSignals(database, listener, silentLog);
  signals.subscribe("keys", () => undefined);
  return signals;
}

async function settledMs(signals: ReturnType<typeof signalsOver>): Promise<number> {
  const beganMs = performance.now();
  await signals.confirmedEverywhere();
  return performance.now() - beganMs;
}

describe("T73: a committed change whose confirmation cannot be requested", () => {
  it.each<[string, Listener["listeners"], () => Promise<never[]>]>([
    ["the database is away", () => Promise.reject(away), () => Promise.reject(away)],
    ["no connection is free", () => new Promise(() => undefined), async () => []],
    ["the request cannot be sent", async () => ["1", "2"], () => Promise.reject(away)],
  ])("is answered after a second: %s", async (_why, listeners, query) => {
    const ms = await settledMs(signalsOver(listeners, query));
    expect(ms).toBeGreaterThan(900);
    expect(ms).toBeLessThan(5_000);
  });
});
