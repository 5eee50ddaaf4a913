/** The open sessions of a user: where they are signed in, and ending one of them or all others. docs/management.md. */
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
import type { Kind } from "./objects.ts";

/** A session without its token, which never leaves the database. */
export interface OwnSession {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Where it was opened from; null where that is not known. */
  readonly ip: string | null;
  readonly userAgent: string | null;
}

type SessionRow = SnakeCased<OwnSession>;

const columns =
  "id, user_id, created_at, expires_at, nullif(ip_address, '') as ip, nullif(user_agent, '') as user_agent";

export const sessionKind: Kind<OwnSession> = {
  type: "session",
  what: "session",
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
 * Keeps an open session until the transaction ends: what would end it waits, and finds what was made with it.
 * @throws GatewayError `invalid_credential` where it has ended, also in the moment in which it was waited for
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

/** Ends a session: its cookie opens nothing from the next request on. */
export async function endSession(
  { database }: Pick<RowContext, "database">,
  id: string,
): Promise<void> {
  await database.query("delete from auth_sessions where id = $1", [id]);
}

/** Ends the sessions of a user but one; all of them without `keep`. Returns how many. */
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

/** How many sessions a user may have at a time: whoever signs in again and again ends their oldest ones. */
const sessionsMax = 100;

export async function endOldest(database: Queryable, userId: string): Promise<void> {
  await database.query(
    `delete from auth_sessions where id in (
       select id from auth_sessions where user_id = $1 order by created_at desc, id desc offset ${sessionsMax})`,
    [userId],
  );
}
