/**
 * Sign-in with an address and a password. Several users may have one address (users.ts), and the password tells which one is meant.
 * All passwords of an address share a salt, so that a sign-in takes the time of one derivation however many there are. Its duration
 * therefore does not reveal whether an address is known.
 */
import type { Queryable } from "../storage/index.ts";
import { newId } from "../base/ids.ts";
import type { RowContext } from "./context.ts";
import { hashPassword, matchPasswords, type PasswordQueue } from "./passwords.ts";
import { addressText } from "./users.ts";

/** A user that an address and a password sign in to. */
export interface Login {
  readonly userId: string;
  readonly accountId: string;
  /** The stored hash of the password. */
  readonly hash: string;
  /** Another person set the password; it opens one session, which may only change it. */
  readonly oneTime: boolean;
  /** The user has an open invitation. */
  readonly invited: boolean;
  /** The user is an active member of at least one workspace, or administers the gateway. */
  readonly joined: boolean;
}

/** For a user `u`. */
const isJoined = `(u.role = 'admin' or exists (select 1 from members m where m.user_id = u.id and m.status = 'active'))`;

/**
 * Returns `salt:hash` of a password for an address, with the salt shared by that address's passwords. Call it before a transaction,
 * never within one: on a busy machine it takes longer than a transaction may stay idle.
 */
export async function hashFor(
  { database }: { readonly database: Queryable },
  email: string,
  password: string,
): Promise<string> {
  const [row] = await database.query<{ salt: string }>(
    `select split_part(a.password, ':', 1) as salt from users u join auth_accounts a on a.user_id = u.id
     where u.email = $1 and a.provider_id = 'credential' and a.password is not null order by a.created_at limit 1`,
    [email],
  );
  return hashPassword(password, row?.salt);
}

interface LoginRow {
  readonly user_id: string;
  readonly account_id: string;
  readonly password: string;
  readonly one_time: "unused" | "used" | null;
  readonly invited: boolean;
  readonly joined: boolean;
  /** The user has invitations, and all have expired. */
  readonly late: boolean;
}

/**
 * The users that this password signs in to, newest first; several if one address has the same password for several users. A one-time
 * password works once, while its invitation is open.
 */
export async function findLogins(
  { database, clock }: RowContext,
  {
    email,
    password,
    onlyUser,
    turn,
  }: {
    readonly email: string;
    readonly password: string;
    /** Tries only this user's password; all users of the address if absent. */
    readonly onlyUser?: string | undefined;
    readonly turn?: PasswordQueue;
  },
): Promise<Login[]> {
  const rows = await database.query<LoginRow>(
    `select u.id as user_id, a.id as account_id, a.password, a.one_time, coalesce(i.open, false) as invited,
       coalesce(not i.open, false) as late,
       ${isJoined} as joined
     from users u join auth_accounts a on a.user_id = u.id
     left join lateral (select bool_or(m.invitation_expires_at > $2) as open
       from members m where m.user_id = u.id and m.status = 'invited') i on true
     where u.email = $1 and a.provider_id = 'credential' and a.password is not null
       and ($3::text is null or u.id = $3) order by u.id desc`,
    [addressText(email), new Date(clock.now()), onlyUser ?? null],
  );
  const matches = await matchPasswords(
    password,
    rows.map((row) => row.password),
    turn,
  );
  return rows
    .filter((row, at) => matches[at] === true && isOpen(row))
    .map((row) => ({
      userId: row.user_id,
      accountId: row.account_id,
      hash: row.password,
      oneTime: row.one_time !== null,
      invited: row.invited,
      joined: row.joined,
    }));
}

/** Returns the user whom a chosen password opens: one who has joined, else the newest. Undefined if none chose it. */
export function loginOf(logins: readonly Login[]): Login | undefined {
  const own = logins.filter(({ oneTime }) => !oneTime);
  return own.find(({ joined }) => joined) ?? own[0];
}

const isOpen = ({ one_time, invited, joined, late }: LoginRow): boolean =>
  one_time === null ? joined || !late : one_time === "unused" && invited;

/**
 * Another user with this address who has joined and chose the same password; undefined if there is none. `hash` is from `hashFor`: the
 * passwords of an address share a salt, so equal passwords have equal hashes.
 */
export async function joinedUserWith(
  { database }: { readonly database: Queryable },
  {
    userId,
    email,
    hash,
  }: { readonly userId: string; readonly email: string; readonly hash: string },
): Promise<string | undefined> {
  const [other] = await database.query<{ id: string }>(
    `select u.id from users u join auth_accounts a on a.user_id = u.id
     where u.email = $1 and u.id <> $2 and a.provider_id = 'credential' and a.password = $3 and a.one_time is null
       and ${isJoined} order by u.id desc limit 1`,
    [email, userId, hash],
  );
  return other?.id;
}

/** Uses up a one-time password. False if another sign-in used it first, or if another one replaced it meanwhile. */
export async function useOneTimePassword(
  { database }: { readonly database: Queryable },
  { accountId, hash }: Login,
): Promise<boolean> {
  const used = await database.query(
    "update auth_accounts set one_time = 'used' where id = $1 and password = $2 and one_time = 'unused' returning id",
    [accountId, hash],
  );
  return used.length === 1;
}

/** True if this is still a user's password. Waits for a transaction that changes it. */
export async function keepsPassword(
  { database }: { readonly database: Queryable },
  { userId, hash }: { readonly userId: string; readonly hash: string },
): Promise<boolean> {
  const rows = await database.query(
    "select 1 from auth_accounts where user_id = $1 and provider_id = 'credential' and password = $2 for share",
    [userId, hash],
  );
  return rows.length === 1;
}

/**
 * True if the password printed at the first start still works, since others may see it in a log. With `userId`, checks only this
 * user. No other password of an administrator of the gateway was set by another person.
 */
export async function hasFirstPassword(database: Queryable, userId?: string): Promise<boolean> {
  const rows = await database.query(
    `select 1 from users u join auth_accounts a on a.user_id = u.id
     where u.role = 'admin' and a.provider_id = 'credential' and a.password is not null and a.one_time is null
       and a.created_at = u.created_at and a.updated_at = a.created_at and ($1::text is null or u.id = $1) limit 1`,
    [userId ?? null],
  );
  return rows.length > 0;
}

/** The stored password of a user; undefined if the user has none. */
export async function storedPassword(
  { database }: { readonly database: Queryable },
  userId: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ password: string | null }>(
    "select password from auth_accounts where user_id = $1 and provider_id = 'credential'",
    [userId],
  );
  return row?.password ?? undefined;
}

interface NewPassword {
  readonly hash: string;
  /** True if another person sets it. */
  readonly oneTime: boolean;
}

/**
 * Sets a user's password, and ends their sessions and any password reset link. Wherever a password ends, its sessions are deleted after
 * it: a sign-in that has checked it opens its session first and then looks at the password again (`keepsPassword`).
 */
export async function setPassword(
  { database, clock }: RowContext,
  userId: string,
  { hash, oneTime }: NewPassword,
): Promise<void> {
  const now = new Date(clock.now());
  await database.query(
    `insert into auth_accounts (id, user_id, provider_id, account_id, password, one_time, created_at, updated_at)
     values ($1, $2, 'credential', $2, $3, $4, $5, $5)
     on conflict (provider_id, account_id) do update set password = excluded.password, one_time = excluded.one_time,
       updated_at = excluded.updated_at`,
    [newId("account", clock.now()), userId, hash, oneTime ? "unused" : null, now],
  );
  await database.query("delete from auth_sessions where user_id = $1", [userId]);
  await database.query("delete from password_resets where user_id = $1", [userId]);
}

/** Revokes the personal tokens of a user. Returns their ids. */
export async function revokeTokens(
  { database, clock }: RowContext,
  userId: string,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    "update admin_tokens set revoked_at = $2 where user_id = $1 and revoked_at is null returning id",
    [userId, new Date(clock.now())],
  );
  return rows.map(({ id }) => id);
}

/** True if a user is an active member of any workspace, not only invited. */
export async function hasJoined(
  { database }: { readonly database: Queryable },
  userId: string,
): Promise<boolean> {
  const rows = await database.query(
    "select 1 from members where user_id = $1 and status = 'active' limit 1",
    [userId],
  );
  return rows.length > 0;
}

/** Deletes a user created for an invitation, with every way to sign in as them. A user who has joined elsewhere stays. */
export async function removeUser(
  context: { readonly database: Queryable },
  userId: string,
): Promise<void> {
  if (await hasJoined(context, userId)) return;
  const { database } = context;
  await database.query("delete from auth_accounts where user_id = $1", [userId]);
  await database.query("delete from auth_sessions where user_id = $1", [userId]);
  await database.query("delete from users where id = $1", [userId]);
}
