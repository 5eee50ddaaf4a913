/**
 * Links that let their holder choose a new password for a user. Only a hash of the token is stored. A user has at most one link, and
 * every other way of setting a password deletes it (logins.ts).
 */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import type { RowContext } from "./context.ts";
import { linkTokenHash, makeLinkToken } from "./link-token.ts";

const scheme = "gw_pwr_";
/** How many hours a link is valid. */
const resetHours = 24;
const openMs = resetHours * 60 * 60 * 1000;

/** An open link, without its token. */
export interface PasswordReset {
  readonly userId: string;
  readonly email: string;
  /** The workspace in which the link's maker administers the user. */
  readonly workspaceId: string;
  /** The user who made it; null: made with the admin token. */
  readonly madeBy: string | null;
  readonly expiresAt: Date;
}

export const invalidReset = (): GatewayError =>
  new GatewayError(
    "not_found",
    "There is no such link: it was used or replaced, it has expired, or it is incomplete. Ask for a new one.",
  );

/** Makes a password reset link for a user and replaces an existing one. Only this answer contains the token. */
export async function makeReset(
  { database, clock }: RowContext,
  input: Pick<PasswordReset, "userId" | "workspaceId" | "madeBy">,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  const { token, hash } = makeLinkToken(scheme);
  const now = new Date(clock.now());
  const expiresAt = new Date(clock.now() + openMs);
  await database.query("delete from password_resets where expires_at <= $1", [now]);
  await database.query(
    `insert into password_resets (user_id, workspace_id, made_by, token_hash, expires_at, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (user_id) do update set workspace_id = excluded.workspace_id, made_by = excluded.made_by,
       token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at`,
    [input.userId, input.workspaceId, input.madeBy, hash, expiresAt, now],
  );
  return { token, expiresAt };
}

/**
 * The open link of a token. `forUpdate` locks it, so that only one of several concurrent users finds it.
 * @throws GatewayError `not_found`, with the same message whatever is wrong with it
 */
export async function openReset(
  { database, clock }: RowContext,
  token: string,
  { forUpdate = false }: { readonly forUpdate?: boolean } = {},
): Promise<PasswordReset> {
  const hash = linkTokenHash(scheme, token);
  if (hash === undefined) throw invalidReset();
  const [row] = await database.query<SnakeCased<PasswordReset>>(
    `select r.user_id, u.email, r.workspace_id, r.made_by, r.expires_at
     from password_resets r join users u on u.id = r.user_id
     where r.token_hash = $1 and r.expires_at > $2${forUpdate ? " for update of r" : ""}`,
    [hash, new Date(clock.now())],
  );
  if (row === undefined) throw invalidReset();
  return camelCased(row);
}
