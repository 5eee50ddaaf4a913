/**
 * The throttle of password attempts: counts failures within a window in the database, for all nodes together. An attempt counts
 * before its password is checked, and is uncounted if it was right. So many concurrent attempts cannot all pass.
 * Each kind of attempt has its own counts, so strangers block only sign-ins by address. Known browsers (known-browser.ts), signed-in users
 * and holders of an invitation still get in.
 */
import type { Clock } from "../base/clock.ts";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import { addressText } from "../tenancy/index.ts";
import type { KnownBrowser } from "./known-browser.ts";

export interface Throttle {
  /** Counts an attempt. @throws GatewayError 429 `too_many_attempts` */
  begin(attempt: Attempt): Promise<Admission>;
  /**
   * Uncounts an attempt that was right, or whose password was not checked. Earlier attempts still count. Several users may have one
   * address: signing in as one must not allow more guesses at the others.
   */
  uncount(admission: Admission): Promise<void>;
}

/** The kind of password check: a sign-in by e-mail address, an invitation by its own, a session by its user's id. */
type AttemptKind = "account" | "invited" | "session";

export interface Attempt {
  readonly kind: AttemptKind;
  /** The e-mail address or user id whose password is tried. */
  readonly subject: string;
  /** The client address that is limited as one (base/client-address.ts); undefined if no address limit applies. */
  readonly address?: string | undefined;
  /** Looks up the known browser of the attempt; used if the kind is at its limit. */
  readonly browser?: (() => Promise<KnownBrowser | undefined>) | undefined;
}

/** An attempt that may go on. */
export interface Admission {
  /** The only user whose password may be tried; undefined: any user with the address. */
  readonly onlyUser: string | undefined;
  /** The names of the counters that counted it. */
  readonly names: readonly string[];
}

/** Failures allowed per window: people mistype, and an office shares an address. */
const failuresMax = { account: 10, invited: 10, session: 10, browser: 10, address: 50 };
const windowMs = 5 * 60_000;

const countOne = `
  insert into auth_attempts as a (name, count, started_at) values ($1, 1, $2)
  on conflict (name) do update set
    count = case when a.started_at <= $3 then 1 else least(a.count + 1, 1000000) end,
    started_at = case when a.started_at <= $3 then $2 else a.started_at end
  returning count, started_at`;

/** A counter's name. Names may be long and are arbitrary text; an account has one name, however its address is typed. */
const nameOf = (kind: string, text: string): string => `${kind}:${addressText(text).slice(0, 300)}`;

/** Creates the throttle that all gateways of a database share: within five minutes 10 failures per kind and subject, and 50 per address. */
export function createThrottle(database: Queryable, clock: Clock): Throttle {
  /** Counts an attempt. Returns the ms for which it is too many; 0 if it is allowed. */
  async function count(kind: keyof typeof failuresMax, name: string): Promise<number> {
    const nowMs = clock.now();
    const [row] = await database.query<{ count: number; started_at: Date }>(countOne, [
      name,
      new Date(nowMs),
      new Date(nowMs - windowMs),
    ]);
    if (row!.count <= failuresMax[kind]) return 0;
    return Math.max(row!.started_at.getTime() + windowMs - nowMs, 1);
  }
  return {
    async begin({ kind, subject, address, browser }) {
      const names: string[] = [];
      const refusal = async (kind: keyof typeof failuresMax, text: string) => {
        const name = nameOf(kind, text);
        names.push(name);
        const waitMs = await count(kind, name);
        return waitMs === 0 ? undefined : tooMany(kind === "address" ? kind : "account", waitMs);
      };
      const closed =
        (address === undefined ? undefined : await refusal("address", address)) ??
        (await refusal(kind, subject));
      if (closed === undefined) return { onlyUser: undefined, names };
      const known = await browser?.();
      if (known === undefined) throw closed;
      const closedToo = await refusal("browser", known.id);
      if (closedToo !== undefined) throw closedToo;
      return { onlyUser: known.userId, names };
    },
    async uncount({ names }) {
      await database.query(
        "update auth_attempts set count = count - 1 where name = any($1::text[]) and count > 0",
        [names],
      );
    },
  };
}

/** Checks an attempt's password. If the check is overloaded, the attempt is uncounted, because it was not wrong. */
export async function checkWithinLimit<Found>(
  throttle: Throttle,
  admission: Admission,
  check: () => Promise<Found>,
): Promise<Found> {
  try {
    return await check();
  } catch (error) {
    if (isOverloaded(error)) await throttle.uncount(admission);
    throw error;
  }
}

export const isOverloaded = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === "overloaded";

const tooMany = (of: "account" | "address", waitMs: number): GatewayError =>
  new GatewayError(
    "too_many_attempts",
    `Too many sign-ins failed for this ${of}. Wait, then try again.`,
    { retryAfterSeconds: Math.ceil(waitMs / 1000) },
  );

/** Rows of a table that one step deletes. */
const stepMax = 1_000;

/**
 * Deletes data that sign-ins leave behind, in one step: counts whose window is over, even if no user signs in again, and expired
 * sessions. @returns how many rows were deleted
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
