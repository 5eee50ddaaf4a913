/** Users of the console. Logging in, sessions and roles come with the management API. */
import { GatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { checkName, invalidValue } from "./checks.ts";
import type { Page, PageRequest, RowContext } from "./context.ts";
import { onlyRow, pageLimit, pageOf } from "./context.ts";
import { hashPassword } from "./passwords.ts";

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

interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: UserRole;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface UserInput {
  readonly email: string;
  readonly name: string;
  readonly role: UserRole;
  /** Absent for users who log in elsewhere (OIDC). */
  readonly password?: string | undefined;
}

/** Absent: unchanged. */
export interface UserPatch {
  readonly name?: string | undefined;
  readonly role?: UserRole | undefined;
  readonly password?: string | undefined;
}

const columns = "id, email, name, role, created_at, updated_at";

function ofRow(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Lower case: one address is one user, however it is typed. */
function checkEmail(email: string): string {
  const normal = email.trim().toLowerCase();
  if (normal.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(normal)) return normal;
  throw invalidValue("email", "must be an e-mail address");
}

/** @throws GatewayError `invalid_value`, `missing_required_parameter`, `conflict` when the address is taken */
export async function createUser(context: RowContext, input: UserInput): Promise<User> {
  const nowMs = context.clock.now();
  const email = checkEmail(input.email);
  const name = checkName(input.name);
  const hash = input.password === undefined ? null : await hashPassword(input.password);
  const [row] = await context.database.query<UserRow>(
    `insert into users (id, email, name, password_hash, role, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $6) on conflict (email) do nothing returning ${columns}`,
    [newId("user", nowMs), email, name, hash, input.role, new Date(nowMs)],
  );
  if (row === undefined) {
    throw new GatewayError("conflict", "A user with this e-mail address exists already.", {
      param: "email",
    });
  }
  return ofRow(row);
}

/** @throws GatewayError `not_found` */
export async function getUser(context: RowContext, id: string): Promise<User> {
  const rows = await context.database.query<UserRow>(`select ${columns} from users where id = $1`, [
    id,
  ]);
  return ofRow(onlyRow(rows, "user"));
}

/** Newest first. */
export async function listUsers(context: RowContext, page: PageRequest): Promise<Page<User>> {
  const limit = pageLimit(page.limit);
  const rows = await context.database.query<UserRow>(
    `select ${columns} from users where ($1::text is null or id < $1) order by id desc limit $2`,
    [page.cursor ?? null, limit + 1],
  );
  return pageOf(rows.map(ofRow), limit);
}

/** Changes what the patch names, and nothing else. @throws GatewayError `not_found`, `invalid_value` */
export async function changeUser(context: RowContext, id: string, patch: UserPatch): Promise<User> {
  const name = patch.name === undefined ? null : checkName(patch.name);
  const hash = patch.password === undefined ? null : await hashPassword(patch.password);
  const rows = await context.database.query<UserRow>(
    `update users set name = coalesce($2, name), role = coalesce($3, role),
       password_hash = coalesce($4, password_hash), updated_at = $5
     where id = $1 returning ${columns}`,
    [id, name, patch.role ?? null, hash, new Date(context.clock.now())],
  );
  return ofRow(onlyRow(rows, "user"));
}
