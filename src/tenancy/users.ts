/**
 * Users of the console. An address is a name, not a proof: several users may have it, until the identity provider verifies it for
 * one. Passwords are in logins.ts, sessions in src/admin/sessions.ts.
 */
import { invalidValue } from "../base/errors.ts";
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { newId } from "../base/ids.ts";
import { checkName } from "./checks.ts";
import type { RowContext } from "./context.ts";
import { onlyRow } from "./context.ts";

export type UserRole = "admin" | "user";

/** A user without the password hash, which never leaves the database with a record. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: UserRole;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type UserRow = SnakeCased<User>;

export interface UserInput {
  readonly email: string;
  readonly name: string;
  readonly role: UserRole;
  /** The hash of the password, made by `hashFor` before the transaction. Absent for users who log in elsewhere (OIDC). */
  readonly hash?: string | undefined;
  /** Another person set the password: it opens one session, which may only change it. */
  readonly oneTime?: boolean | undefined;
  /** True if the address is verified. Otherwise the user's first sign-in with an identity provider removes the password. */
  readonly emailVerified?: boolean | undefined;
}

/** Absent: unchanged. */
export interface UserPatch {
  readonly name?: string | undefined;
  readonly role?: UserRole | undefined;
}

const columns = "id, email, name, role, created_at, updated_at";

/** Addresses that can sign in: the domain needs at least two labels. */
const emailShape = /^[\w.!#$%&'*+/=?^`{|}~-]+@([a-z\d]([a-z\d-]*[a-z\d])?\.)+[a-z]{2,}$/;

/**
 * The normal form of an address: users store it, and sign-ins are looked up and counted by it. Letters beyond ASCII stay unchanged:
 * the Kelvin sign in lower case is a k, and its address would be another person's.
 */
export const addressText = (email: string): string =>
  email.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** @throws GatewayError `invalid_value` */
export function checkEmail(email: string): string {
  const normal = addressText(email);
  if (normal.length <= 254 && emailShape.test(normal)) return normal;
  throw invalidValue("email", "must be an e-mail address");
}

/** @throws GatewayError `invalid_value`, `missing_required_parameter` */
export async function createUser(context: RowContext, input: UserInput): Promise<User> {
  const nowMs = context.clock.now();
  const email = checkEmail(input.email);
  const name = checkName(input.name);
  const rows = await context.database.query<UserRow>(
    `with made as (
       insert into users (id, email, name, role, created_at, updated_at, email_verified)
       values ($1, $2, $3, $5, $6, $6, $8) returning ${columns}
     ), account as (
       insert into auth_accounts (id, user_id, provider_id, account_id, password, one_time, created_at, updated_at)
       select $7, id, 'credential', id, $4::text, $9::text, created_at, created_at from made where $4::text is not null
     )
     select ${columns} from made`,
    [
      newId("user", nowMs),
      email,
      name,
      input.hash ?? null,
      input.role,
      new Date(nowMs),
      newId("account", nowMs),
      input.emailVerified ?? false,
      input.oneTime === true ? "unused" : null,
    ],
  );
  return camelCased(onlyRow(rows, "user"));
}

/** @throws GatewayError `not_found` */
export async function getUser(context: RowContext, id: string): Promise<User> {
  const rows = await context.database.query<UserRow>(`select ${columns} from users where id = $1`, [
    id,
  ]);
  return camelCased(onlyRow(rows, "user"));
}

/** Addresses and names of the existing users among `ids`, by id. */
export async function usersOf(
  context: RowContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<User, "email" | "name">>> {
  if (ids.length === 0) return new Map();
  const rows = await context.database.query<Pick<UserRow, "id" | "email" | "name">>(
    "select id, email, name from users where id = any($1::text[])",
    [ids],
  );
  return new Map(rows.map(({ id, email, name }) => [id, { email, name }]));
}

/** Changes only the fields that the patch names. @throws GatewayError `not_found`, `invalid_value` */
export async function changeUser(context: RowContext, id: string, patch: UserPatch): Promise<User> {
  const rows = await context.database.query<UserRow>(
    `update users set name = coalesce($2, name), role = coalesce($3, role), updated_at = $4 where id = $1
     returning ${columns}`,
    [
      id,
      patch.name === undefined ? null : checkName(patch.name),
      patch.role ?? null,
      new Date(context.clock.now()),
    ],
  );
  return camelCased(onlyRow(rows, "user"));
}
