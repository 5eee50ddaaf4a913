/** A user's open sessions: lists them, and ends one or all others. docs/management.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import {
  cursorOf,
  lockClause,
  onlyRow,
  pageLimit,
  pageOf,
  type Page,
  type PageRequest,
  type ReadOptions,
  type RowContext,
} from "../tenancy/index.ts";
import type { ObjectKind } from "./objects.ts";

/** A session, without its token, which never leaves the database. */
export interface OwnSession {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The client address that opened it; null if unknown. */
  readonly ip: string | null;
  readonly userAgent: string | null;
}

type SessionRow = SnakeCased<OwnSession>;

const columns =
  "id, user_id, created_at, expires_at, nullif(ip_address, '') as ip, nullif(user_agent, '') as user_agent";

export const sessionKind: ObjectKind<OwnSession> = {
  type: "session",
  label: "session",
  id: ({ id }) => id,
  place: ({ userId }) => ({ ownerId: userId }),
  view: ({ userId, ip, userAgent, createdAt }) => ({
    user_id: userId,
    created_at: createdAt,
    ip,
    user_agent: userAgent,
  }),
};

/** The open sessions of a user, newest first. */
export async function listSessions(
  { database, clock }: RowContext,
  filter: PageRequest & { readonly userId: string },
): Promise<Page<OwnSession>> {
  const limit = pageLimit(filter.limit);
  const rows = await database.query<SessionRow>(
    `select ${columns} from auth_sessions where user_id = $1 and expires_at > $4 and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [filter.userId, cursorOf(filter, "session"), limit + 1, new Date(clock.now())],
  );
  return pageOf(rows.map(camelCased), limit);
}

/** One open session. @throws GatewayError `not_found` */
export async function getSession(
  { database, clock }: RowContext,
  id: string,
  options?: ReadOptions,
): Promise<OwnSession> {
  const rows = await database.query<SessionRow>(
    `select ${columns} from auth_sessions where id = $1 and expires_at > $2${lockClause(options)}`,
    [id, new Date(clock.now())],
  );
  return camelCased(onlyRow(rows, "session"));
}

/**
 * Locks an open session until the transaction ends. A request that would end it waits, and then sees the result of this
 * transaction.
 * @throws GatewayError `invalid_credential` if it has ended, even while this call waited for the lock
 */
export async function keepSession(
  { database, clock }: RowContext,
  id: string | undefined,
): Promise<void> {
  const rows = await database.query(
    "select 1 from auth_sessions where id = $1 and expires_at > $2 for share",
    [id ?? null, new Date(clock.now())],
  );
  if (rows.length === 0) throw sessionEnded();
}

export const sessionEnded = (): GatewayError =>
  new GatewayError("invalid_credential", "The session has ended. Sign in again.");

/** Ends a session; the next request with its cookie is refused. */
export async function endSession(
  { database }: Pick<RowContext, "database">,
  id: string,
): Promise<void> {
  await database.query("delete from auth_sessions where id = $1", [id]);
}

/** Ends all sessions of a user except `keep`; all if `keep` is undefined. Returns how many ended. */
export async function endSessions(
  { database }: Pick<RowContext, "database">,
  { userId, keep }: { readonly userId: string; readonly keep: string | undefined },
): Promise<number> {
  const rows = await database.query(
    "delete from auth_sessions where user_id = $1 and id is distinct from $2 returning id",
    [userId, keep ?? null],
  );
  return rows.length;
}

/** Open sessions per user; a further sign-in ends the oldest. */
const sessionsMax = 100;

export async function endOldest(database: Queryable, userId: string): Promise<void> {
  await database.query(
    `delete from auth_sessions where id in (
       select id from auth_sessions where user_id = $1 order by created_at desc, id desc offset ${sessionsMax})`,
    [userId],
  );
}
