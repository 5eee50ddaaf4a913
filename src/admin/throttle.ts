/**
 * The throttle of passwords that are tried: failures within a window, counted in the database, so that all nodes count
 * together. An attempt is counted before the password is looked at, and taken back when it was right: many attempts at once
 * cannot pass together. Each door has counts of its own, so that a stranger closes only the strangers' door: a browser that
 * is known (known-browser.ts), somebody who is signed in, and the holder of an invitation still get in.
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
   * The attempt was right, or nobody looked at its password: it counts no more. Those before it do: several users may have one
   * address, and whoever signs in as one of them must not make room for guesses at the others.
   */
  takeBack(admission: Admission): Promise<void>;
}

/** Where a password is tried: a sign-in by e-mail address, an invitation by its own, a session by its user's id. */
type Door = "account" | "invited" | "session";

export interface Attempt {
  readonly door: Door;
  /** Whose password is tried: an e-mail address, or a user's id. */
  readonly whose: string;
  /** What is limited together (base/client-address.ts); undefined where no limit by address holds. */
  readonly address?: string | undefined;
  /** Where the door is closed: the known browser that the attempt comes from. */
  readonly browser?: (() => Promise<KnownBrowser | undefined>) | undefined;
}

/** An attempt that may go on. */
export interface Admission {
  /** The only user whose password may be tried; undefined where it may be anybody's of the address. */
  readonly onlyUser: string | undefined;
  /** What counted it. */
  readonly names: readonly string[];
}

/** How many failures fit into a window: people mistype, an office shares an address. */
const failuresMax = { account: 10, invited: 10, session: 10, browser: 10, address: 50 };
const windowMs = 5 * 60_000;

const countOne = `
  insert into auth_attempts as a (name, count, started_at) values ($1, 1, $2)
  on conflict (name) do update set
    count = case when a.started_at <= $3 then 1 else least(a.count + 1, 1000000) end,
    started_at = case when a.started_at <= $3 then $2 else a.started_at end
  returning count, started_at`;

/** Names may be long, and are anybody's text: one account has one, however its address is typed. */
const nameOf = (kind: string, text: string): string => `${kind}:${addressText(text).slice(0, 300)}`;

/** A throttle for all gateways of a database: 10 failures at a door, 50 of an address, within five minutes. */
export function createThrottle(database: Queryable, clock: Clock): Throttle {
  /** Counts one, and tells for how long it is one too many; 0 for one that is not. */
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
    async begin({ door, whose, address, browser }) {
      const names: string[] = [];
      const refusal = async (kind: keyof typeof failuresMax, text: string) => {
        const name = nameOf(kind, text);
        names.push(name);
        const waitMs = await count(kind, name);
        return waitMs === 0 ? undefined : tooMany(kind === "address" ? kind : "account", waitMs);
      };
      const closed =
        (address === undefined ? undefined : await refusal("address", address)) ??
        (await refusal(door, whose));
      if (closed === undefined) return { onlyUser: undefined, names };
      const known = await browser?.();
      if (known === undefined) throw closed;
      const closedToo = await refusal("browser", known.id);
      if (closedToo !== undefined) throw closedToo;
      return { onlyUser: known.userId, names };
    },
    async takeBack({ names }) {
      await database.query(
        "update auth_attempts set count = count - 1 where name = any($1::text[]) and count > 0",
        [names],
      );
    },
  };
}

/** Looks at an attempt's password. Where many others are looked at, and this one had no turn, it was no wrong one. */
export async function inItsTurn<Found>(
  throttle: Throttle,
  admission: Admission,
  look: () => Promise<Found>,
): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    if (isOverloaded(error)) await throttle.takeBack(admission);
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
