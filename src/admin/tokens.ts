/**
 * Personal tokens: bearer tokens for the management API, with their owner's current role. docs/management.md. Only an HMAC is
 * stored: a token is shown once.
 */
import { camelCased, wireCased, type SnakeCased } from "../base/casing.ts";
import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";
import {
  checkName,
  cursorOf,
  lockClause,
  onlyRow,
  pageLimit,
  pageOf,
  type Page,
  type PageRequest,
  type ReadOptions,
  type Secrets,
} from "../tenancy/index.ts";

const scheme = "gw_pat_";
const shape = /^gw_pat_[\w-]{43}$/;

export interface AdminToken {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

type TokenRow = SnakeCased<AdminToken>;

const columns = "id, user_id, name, created_at, expires_at, last_used_at, revoked_at";

interface TokenContext {
  readonly database: Queryable;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "lookup">;
}

/** Creates a token; only this result contains it. @throws GatewayError `missing_required_parameter`, `invalid_value` */
export async function createToken(
  context: TokenContext,
  input: { readonly userId: string; readonly name: string; readonly expiresAt: Date | null },
): Promise<{ readonly record: AdminToken; readonly token: string }> {
  const nowMs = context.clock.now();
  if (input.expiresAt !== null && input.expiresAt.getTime() <= nowMs) {
    throw invalidValue("expires_at", "must be in the future, or null");
  }
  const token = scheme + randomBytes(32).toString("base64url");
  const rows = await context.database.query<TokenRow>(
    `insert into admin_tokens (id, user_id, name, lookup, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
    [
      newId("token", nowMs),
      input.userId,
      checkName(input.name),
      context.secrets.lookup(token),
      new Date(nowMs),
      input.expiresAt,
    ],
  );
  return { record: camelCased(onlyRow(rows, "token")), token };
}

/** One token's record. @throws GatewayError `not_found` */
export async function getToken(
  { database }: Pick<TokenContext, "database">,
  id: string,
  options?: ReadOptions,
): Promise<AdminToken> {
  const rows = await database.query<TokenRow>(
    `select ${columns} from admin_tokens where id = $1${lockClause(options)}`,
    [id],
  );
  return camelCased(onlyRow(rows, "token"));
}

/** Lists a user's tokens, newest first, including revoked ones. */
export async function listTokens(
  { database }: Pick<TokenContext, "database">,
  filter: PageRequest & { readonly userId: string },
): Promise<Page<AdminToken>> {
  const limit = pageLimit(filter.limit);
  const rows = await database.query<TokenRow>(
    `select ${columns} from admin_tokens where user_id = $1 and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [filter.userId, cursorOf(filter, "token"), limit + 1],
  );
  return pageOf(rows.map(camelCased), limit);
}

/** Revokes a token for good; a second time changes nothing. @throws GatewayError `not_found` */
export async function revokeToken(
  { database, clock }: Omit<TokenContext, "secrets">,
  id: string,
): Promise<AdminToken> {
  const rows = await database.query<TokenRow>(
    `update admin_tokens set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${columns}`,
    [id, new Date(clock.now())],
  );
  return camelCased(onlyRow(rows, "token"));
}

/** A token's use is recorded about once a minute. The statement checks the time again, because another request may have recorded it. */
const noteMs = 60_000;
const noteUse = `update admin_tokens set last_used_at = $2 where id = $1
  and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute')`;

/**
 * Returns the owner of a personal token; undefined if the bearer is none.
 * @throws GatewayError 401 `invalid_credential` for an expired or revoked token
 */
export async function ownerOfToken(
  context: TokenContext,
  bearer: string,
): Promise<string | undefined> {
  if (!shape.test(bearer)) return undefined;
  const { database, secrets, clock } = context;
  const [row] = await database.query<TokenRow>(
    `select ${columns} from admin_tokens where lookup = $1`,
    [secrets.lookup(bearer)],
  );
  if (row === undefined) return undefined;
  const nowMs = clock.now();
  const expired = row.expires_at !== null && row.expires_at.getTime() <= nowMs;
  if (row.revoked_at !== null || expired) {
    const why = expired ? "has expired" : "was revoked";
    throw new GatewayError("invalid_credential", `The token ${why}.`);
  }
  const notedMs = row.last_used_at?.getTime() ?? -Infinity;
  if (notedMs <= nowMs - noteMs) await database.query(noteUse, [row.id, new Date(nowMs)]);
  return row.user_id;
}

/** Renders the record; a creation adds `token` to it. */
export const renderToken = (token: AdminToken) => ({
  ...wireCased(token),
  object: "admin_token",
});
