/**
 * The throttle of sign-ins: failures of one address and of one account within a window, counted in the database, so that
 * all nodes count together. An attempt is counted before the password is looked at, and taken back when it was right:
 * many attempts at once cannot pass together.
 */
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import { addressText } from "../tenancy/index.ts";

export interface Throttle {
  /** Counts an attempt. @throws GatewayError 429 `too_many_attempts` */
  begin(attempt: Attempt): Promise<void>;
  /**
   * The attempt was right, and counts no more. Those before it do: several users may have one address, and whoever signs in
   * as one of them must not make room for guesses at the others.
   */
  succeeded(attempt: Attempt): Promise<void>;
}

export interface Attempt {
  /** What is limited together (base/client-address.ts); undefined where no limit by address holds. */
  readonly address: string | undefined;
  readonly email: string;
}

/** How many failures fit into a window: people mistype, an office shares an address. */
const failuresMax = { account: 10, address: 50 };
const windowMs = 5 * 60_000;

const countOne = `
  insert into auth_attempts as a (name, count, started_at) values ($1, 1, $2)
  on conflict (name) do update set
    count = case when a.started_at <= $3 then 1 else least(a.count + 1, 1000000) end,
    started_at = case when a.started_at <= $3 then $2 else a.started_at end
  returning count, started_at`;

/** Names may be long, and are anybody's text: one account has one, however its address is typed. */
const nameOf = (kind: string, text: string): string => `${kind}:${addressText(text).slice(0, 300)}`;

/** A throttle for all gateways of a database: 10 failures of an account, 50 of an address, within five minutes. */
export function createThrottle(database: Queryable, clock: Clock): Throttle {
  async function count(kind: "account" | "address", text: string): Promise<void> {
    const nowMs = clock.now();
    const [row] = await database.query<{ count: number; started_at: Date }>(countOne, [
      nameOf(kind, text),
      new Date(nowMs),
      new Date(nowMs - windowMs),
    ]);
    if (row!.count <= failuresMax[kind]) return;
    const waitMs = row!.started_at.getTime() + windowMs - nowMs;
    throw new GatewayError(
      "too_many_attempts",
      `Too many sign-ins failed for this ${kind}. Wait, then try again.`,
      { retryAfterSeconds: Math.max(Math.ceil(waitMs / 1000), 1) },
    );
  }
  return {
    async begin({ address, email }) {
      if (address !== undefined) await count("address", address);
      await count("account", email);
    },
    async succeeded({ address, email }) {
      const names = [nameOf("account", email)];
      if (address !== undefined) names.push(nameOf("address", address));
      await database.query(
        "update auth_attempts set count = count - 1 where name = any($1::text[]) and count > 0",
        [names],
      );
    },
  };
}

/** How many rows of a table one step takes away. */
const stepMax = 1_000;

/**
 * Takes away what signing in leaves behind: counts whose window is over, also where nobody ever signs in, and sessions that have
 * ended by themselves. One step. @returns how many rows went
 */
export async function sweepSignIns(database: Queryable, nowMs: number): Promise<number> {
  const attempts = await database.query(
    `delete from auth_attempts where name in (select name from auth_attempts where started_at <= $1 limit ${stepMax})
       and started_at <= $1 returning 1`,
    [new Date(nowMs - windowMs)],
  );
  const sessions = await database.query(
    `delete from auth_sessions where id in (select id from auth_sessions where expires_at <= $1 limit ${stepMax})
       and expires_at <= $1 returning 1`,
    [new Date(nowMs)],
  );
  return attempts.length + sessions.length;
}
