/** Parameters and results of `rate_take` (storage/baseline/15_rate_limits.sql). */
import { retryWhileAway, reserveRetryMs, type Database } from "../storage/index.ts";

export type RateScope = "workspace" | "member" | "key";
/** `calls`: calls at once. */
export type RateUnit = "requests" | "tokens" | "calls";

/** The name of one limit. */
export interface MeterName {
  readonly workspaceId: string;
  readonly scope: RateScope;
  readonly scopeId: string;
  readonly unit: RateUnit;
}

/** A correction of the amount taken in second `step`: given back (below zero), or used beyond it. */
export interface Correction {
  readonly step: number;
  readonly amount: number;
}

export interface GrantRequest extends MeterName {
  readonly limit: number;
  /** The sum that the waiting calls need; for calls at once, with the running ones. */
  readonly need: number;
  /** The amount that may be granted beyond `need` while plenty is left. */
  readonly headroom: number;
  /** The amount that the first waiting call needs; for calls at once, the running ones, which go on whatever the answer. */
  readonly first: number;
  readonly corrections: readonly Correction[];
}

export interface Granted {
  /** The second that the grant counts in, by the database's clock. */
  readonly step: number;
  readonly granted: number;
  /** The amount that all gateways used in the last minute, including this grant. */
  readonly total: number;
  /** Milliseconds until the first waiting call may fit; `resetMs`: until nothing counts as used. */
  readonly waitMs: number;
  readonly resetMs: number;
}

/** Requests several limits at once; the answers have their order. @throws GatewayError database_unavailable */
export type SendGrantRequests = (asks: readonly GrantRequest[]) => Promise<readonly Granted[]>;

interface TakeRow {
  readonly place: number;
  readonly step: bigint;
  readonly granted: bigint;
  readonly total: bigint;
  readonly wait_ms: bigint;
  readonly reset_ms: bigint;
}

const takeSql = "select * from rate_take($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)";

/** Truncates to a whole number: vendors' token counts may be anything. */
const truncated = (amount: number): number => Math.trunc(amount);

function paramsOf(gateway: string, leaseMs: number, asks: readonly GrantRequest[], again: boolean) {
  // The attempt before may have been committed, so a retry does not repeat give-backs: too high is acceptable for a minute, too low never.
  const corrections = asks
    .flatMap((ask, index) =>
      ask.corrections.map((correction) => ({ place: index + 1, ...correction })),
    )
    .filter(({ amount }) => !again || amount > 0);
  return [
    gateway,
    leaseMs,
    asks.map(({ workspaceId }) => workspaceId),
    asks.map(({ scope }) => scope),
    asks.map(({ scopeId }) => scopeId),
    asks.map(({ unit }) => unit),
    asks.map(({ limit }) => truncated(limit)),
    asks.map(({ need }) => truncated(need)),
    asks.map(({ headroom }) => truncated(headroom)),
    asks.map(({ first }) => truncated(first)),
    corrections.map(({ place }) => place),
    corrections.map(({ step }) => step),
    corrections.map(({ amount }) => truncated(amount)),
  ];
}

/** Returns the sender of one gateway's requests. Its running calls count for `leaseMs`, unless a later request renews them. */
export const grantSender =
  (database: Database, gateway: string, leaseMs: number): SendGrantRequests =>
  (asks) =>
    retryWhileAway(reserveRetryMs, async (attempt) => {
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
