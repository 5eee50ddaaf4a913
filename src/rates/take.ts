/** What `rate_take` takes and answers (storage/baseline/15_rate_limits.sql). */
import { persist, reserveRetryMs, type Database } from "../storage/index.ts";

export type RateScope = "workspace" | "member" | "key";
/** `calls`: those that run at once. */
export type RateUnit = "requests" | "tokens" | "calls";

/** Which limit. */
export interface MeterName {
  readonly workspaceId: string;
  readonly scope: RateScope;
  readonly scopeId: string;
  readonly unit: RateUnit;
}

/** Given back (below zero) of what was taken in second `step`, or used beyond it. */
export interface Give {
  readonly step: number;
  readonly amount: number;
}

export interface Ask extends MeterName {
  readonly limit: number;
  /** What those who wait come to; of calls with those that run. */
  readonly need: number;
  /** What may be granted beyond it while there is plenty. */
  readonly headroom: number;
  /** What the first of those who wait needs; of calls: those that run, which go on whatever is decided. */
  readonly first: number;
  readonly gives: readonly Give[];
}

export interface Granted {
  /** The second that it counts for, by the database's clock. */
  readonly step: number;
  readonly granted: number;
  /** What all gateways used in the minute, with this. */
  readonly total: number;
  /** Until the first of those who wait may fit, and until nothing used is left. */
  readonly waitMs: number;
  readonly resetMs: number;
}

/** Asks for several limits at once; answers in their order. @throws GatewayError database_unavailable */
export type SendAsks = (asks: readonly Ask[]) => Promise<readonly Granted[]>;

interface TakeRow {
  readonly place: number;
  readonly step: bigint;
  readonly granted: bigint;
  readonly total: bigint;
  readonly wait_ms: bigint;
  readonly reset_ms: bigint;
}

const takeSql = "select * from rate_take($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)";

/** Whole numbers only: token counts of vendors may be anything. */
const whole = (amount: number): number => Math.trunc(amount);

function paramsOf(gateway: string, leaseMs: number, asks: readonly Ask[], again: boolean) {
  // All may have been counted already: counted too high is right within a minute, too low never.
  const gives = asks
    .flatMap((ask, index) => ask.gives.map((give) => ({ place: index + 1, ...give })))
    .filter(({ amount }) => !again || amount > 0);
  return [
    gateway,
    leaseMs,
    asks.map(({ workspaceId }) => workspaceId),
    asks.map(({ scope }) => scope),
    asks.map(({ scopeId }) => scopeId),
    asks.map(({ unit }) => unit),
    asks.map(({ limit }) => whole(limit)),
    asks.map(({ need }) => whole(need)),
    asks.map(({ headroom }) => whole(headroom)),
    asks.map(({ first }) => whole(first)),
    gives.map(({ place }) => place),
    gives.map(({ step }) => step),
    gives.map(({ amount }) => whole(amount)),
  ];
}

/** Asks the database, for one gateway, whose running calls count for `leaseMs` unless they are asked for again. */
export const askDatabase =
  (database: Database, gateway: string, leaseMs: number): SendAsks =>
  (asks) =>
    persist(reserveRetryMs, async (attempt) => {
      const params = paramsOf(gateway, leaseMs, asks, attempt > 1);
      const rows = await database.query<TakeRow>(takeSql, params, { name: "rate_take" });
      return rows.map((row) => ({
        step: Number(row.step),
        granted: Number(row.granted),
        total: Number(row.total),
        waitMs: Number(row.wait_ms),
        resetMs: Number(row.reset_ms),
      }));
    });
