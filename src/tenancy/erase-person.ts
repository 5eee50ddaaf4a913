/**
 * Erases a person. The user's row stays, because keys, the ledger and the sums hold its id, but no longer identifies the person.
 * Their means of signing in are deleted. The caller ends the memberships. docs/data.md "Erasing a person".
 */
import { erasedAddress } from "../base/erased.ts";
import type { RowContext } from "./context.ts";
import { notFound } from "./context.ts";
import { addressText } from "./users.ts";

/** The person to erase, with all user ids that they have. */
export interface ErasedPerson {
  readonly userIds: readonly string[];
  /** All their addresses and names. */
  readonly emails: readonly string[];
  readonly names: readonly string[];
}

/** Escapes text for a regular expression. `RegExp.escape` would do the same, but Node 22 does not have it. */
const literal = (text: string): string => text.replace(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);

/**
 * Returns a function that replaces these addresses in a text. Longer addresses that contain one of them belong to other people and
 * stay.
 */
export function addressEraser(emails: readonly string[], token: string): (text: string) => string {
  const any = emails.map(literal).join("|");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_.+-])(?:${any})(?![a-z]|[.-][a-z])`, "giu");
  return (text) => text.replace(pattern, erasedAddress(token));
}

/** Finds a person by user id, or by e-mail address, because each invitation has its own user. @throws GatewayError `not_found` */
export async function findPerson({ database }: RowContext, named: string): Promise<ErasedPerson> {
  const rows = await database.query<{ id: string; email: string; name: string }>(
    "select id, email, name from users where id = $1 or email = $2 order by id",
    [named, addressText(named)],
  );
  if (rows.length === 0) throw notFound("person");
  const all = (texts: string[]): string[] => [...new Set(texts)];
  return {
    userIds: rows.map(({ id }) => id),
    emails: all(rows.map(({ email }) => email)),
    names: all(rows.map(({ name }) => name)),
  };
}

/** The person's memberships and open invitations. */
export async function membershipsOf(
  { database }: RowContext,
  { userIds }: ErasedPerson,
): Promise<{ readonly workspaceId: string; readonly userId: string }[]> {
  const rows = await database.query<{ workspace_id: string; user_id: string }>(
    "select workspace_id, user_id from members where user_id = any($1::text[]) order by 1, 2",
    [userIds],
  );
  return rows.map((row) => ({ workspaceId: row.workspace_id, userId: row.user_id }));
}

/** Counts the active keys that the person made, by workspace: an administrator may have enabled those of a member who left. */
export async function activeKeysOf(
  { database }: RowContext,
  { userIds }: ErasedPerson,
): Promise<
  readonly { readonly workspaceId: string; readonly userId: string; readonly n: number }[]
> {
  const rows = await database.query<{ workspace_id: string; created_by: string; n: number }>(
    `select workspace_id, created_by, count(*)::integer as n from api_keys
     where created_by = any($1) and status = 'active' group by 1, 2 order by 1, 2`,
    [userIds],
  );
  return rows.map(({ workspace_id: workspaceId, created_by: userId, n }) => ({
    workspaceId,
    userId,
    n,
  }));
}

/** Tables with the condition for the rows to delete, by the name of their count. Passwords end before sessions (logins.ts). */
const ofPerson = {
  accounts: "auth_accounts where user_id = any($1)",
  sessions: "auth_sessions where user_id = any($1)",
  tokens: "admin_tokens where user_id = any($1)",
  password_resets: "password_resets where user_id = any($1)",
  removed_members: "removed_members where user_id = any($1)",
  key_clients: "key_clients where key_id in (select id from api_keys where created_by = any($1))",
} as const;

export type PersonCounts = Readonly<Record<keyof typeof ofPerson, number>>;

/** Renames the keys that the person made whose names contain an address of theirs. */
async function renameKeys(
  { database }: RowContext,
  { userIds, emails }: ErasedPerson,
  token: string,
): Promise<void> {
  const keys = await database.query<{ id: string; name: string }>(
    "select id, name from api_keys where created_by = any($1) for update",
    [userIds],
  );
  const withoutAddresses = addressEraser(emails, token);
  const renamed = keys.flatMap(({ id, name }) => {
    const other = withoutAddresses(name);
    return other === name ? [] : [{ id, name: other }];
  });
  await database.query(
    "update api_keys k set name = n.name from unnest($1::text[], $2::text[]) n (id, name) where k.id = n.id",
    [renamed.map(({ id }) => id), renamed.map(({ name }) => name)],
  );
}

/** Deletes or anonymizes the person's rows, and returns how many of each kind it deleted; in a dry run, how many there are. */
export async function erasePersonRows(
  context: RowContext,
  person: ErasedPerson,
  { token, dryRun }: { readonly token: string; readonly dryRun: boolean },
): Promise<PersonCounts> {
  const { database, clock } = context;
  const { userIds, emails } = person;
  const counts: Record<string, number> = {};
  for (const [name, rows] of Object.entries(ofPerson)) {
    const [row] = await database.query<{ n: number }>(
      dryRun
        ? `select count(*)::integer as n from ${rows}`
        : `with gone as (delete from ${rows} returning 1) select count(*)::integer as n from gone`,
      [userIds],
    );
    counts[name] = row!.n;
  }
  if (!dryRun) {
    await renameKeys(context, person, token);
    await database.query("delete from auth_attempts where name = any($1)", [
      emails.flatMap((email) => [`account:${email}`, `invited:${email}`]),
    ]);
    await database.query(
      `update users set email = $2, name = $3, image = null, role = 'user', email_verified = false, updated_at = $4
       where id = any($1)`,
      [userIds, erasedAddress(token), token, new Date(clock.now())],
    );
  }
  return counts as PersonCounts;
}
