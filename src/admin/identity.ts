/**
 * Matches people of the identity provider to users. Only here does an address prove something: a verified one finds its user and
 * accepts open invitations. No other sign-in finds a user by address alone. docs/management.md.
 */
import { newId } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";
import {
  addressText,
  changeMany,
  openInvitationsOf,
  revokeTokens,
  useInvitation,
  useInvitationAs,
  type ChangeContext,
} from "../tenancy/index.ts";
import { writeAudit } from "./audit.ts";
import { noteAccepted } from "./invitation-acceptance.ts";

/** Stands for the request id in the audit log: the provider's answer has none of ours. */
const oidcRequest = "oidc";
/** The identity provider's id in paths: `/auth/callback/oidc`. */
export const oidcProvider = "oidc";

/** The identity that the provider confirmed. */
export interface VerifiedIdentity {
  /** The person's id at the provider, with the issuer ({@link subjectAt}). */
  readonly subject: string;
  readonly email: string;
}

/**
 * A person's id at an identity provider. Two providers may give the same id to different people (`1`, a user name), so the issuer
 * is part of it. Empty if the provider gave no id. OpenID Connect Core 5.7.
 */
export const subjectAt = (issuer: string, sub: unknown): string =>
  typeof sub === "string" && sub !== "" ? `${issuer} ${sub}` : "";

/** Adds the current issuer to ids stored without one; those contain no space. */
export async function adoptSubjects(database: Queryable, issuer: string): Promise<void> {
  await database.query(
    `update auth_accounts a set account_id = $2::text || ' ' || a.account_id
     where a.provider_id = $1 and strpos(a.account_id, ' ') = 0 and not exists (
       select 1 from auth_accounts o where o.provider_id = $1 and o.account_id = $2::text || ' ' || a.account_id)`,
    [oidcProvider, issuer],
  );
}

/** Deletes tokens that the provider granted at earlier sign-ins. They were stored without need and give access elsewhere. */
export async function forgetTokens(database: Queryable): Promise<void> {
  await database.query(
    `update auth_accounts set access_token = null, refresh_token = null, id_token = null,
       access_token_expires_at = null, refresh_token_expires_at = null
     where access_token is not null or refresh_token is not null or id_token is not null`,
  );
}

/** Links the person to their user, if there is one, and accepts the user's open invitations. */
export async function linkIdentity(
  context: ChangeContext,
  identity: VerifiedIdentity,
): Promise<void> {
  const email = addressText(identity.email);
  await changeMany(context.database, async (database) => {
    const within = { ...context, database };
    // Same lock order as accepting an invitation.
    const open = await openInvitationsOf(within, { email });
    const userId =
      (await linkedUser(database, identity.subject)) ??
      (await link(within, identity.subject, email));
    if (userId === undefined) return;
    for (const invited of open) {
      const taken = await database.query(
        "select 1 from members where workspace_id = $1 and user_id = $2 and status = 'active'",
        [invited.workspaceId, userId],
      );
      if (taken.length > 0) continue;
      const member =
        invited.userId === userId
          ? await useInvitation(within, invited)
          : await useInvitationAs(within, invited, userId);
      await noteAccepted(within, { invited, member, email, requestId: oidcRequest });
    }
  });
}

async function linkedUser(database: Queryable, subject: string): Promise<string | undefined> {
  const [row] = await database.query<{ user_id: string }>(
    "select user_id from auth_accounts where provider_id = $1 and account_id = $2",
    [oidcProvider, subject],
  );
  return row?.user_id;
}

/**
 * Prefers the user with a verified address, then an active member, then an invited one. Locks the user: a password that is being set by a
 * link waits, and then finds the person linked.
 */
const userByAddressSql = `
  select u.id, u.email_verified from users u left join members m on m.user_id = u.id
    and (m.status = 'active' or m.invitation_expires_at > $2)
  where u.email = $1 and (u.email_verified or m.user_id is not null)
  order by u.email_verified desc, m.status, u.id limit 1 for update of u`;

async function link(
  context: ChangeContext,
  subject: string,
  email: string,
): Promise<string | undefined> {
  const { database } = context;
  const now = new Date(context.clock.now());
  const [user] = await database.query<{ id: string; email_verified: boolean }>(userByAddressSql, [
    email,
    now,
  ]);
  if (user === undefined) return undefined;
  const linked = await database.query(
    `insert into auth_accounts (id, user_id, provider_id, account_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5) on conflict (provider_id, account_id) do nothing returning 1`,
    [newId("account", context.clock.now()), user.id, oidcProvider, subject, now],
  );
  // Another tab of theirs linked it a moment ago.
  if (linked.length === 0) return linkedUser(database, subject);
  if (!user.email_verified) await endUnverifiedAccess(context, { userId: user.id, email });
  return user.id;
}

/**
 * Runs when the identity provider first confirms a user. Until then the address was only claimed, and the one who added the user
 * may know the password. So the password, its sessions and its tokens end.
 */
async function endUnverifiedAccess(
  context: ChangeContext,
  { userId, email }: { readonly userId: string; readonly email: string },
): Promise<void> {
  const { database } = context;
  await database.query("update users set email_verified = true where id = $1", [userId]);
  const passwords = await database.query(
    "delete from auth_accounts where provider_id = 'credential' and user_id = $1 returning 1",
    [userId],
  );
  await database.query("delete from auth_sessions where user_id = $1", [userId]);
  const revoked = await revokeTokens(context, userId);
  if (passwords.length === 0 && revoked.length === 0) return;
  await writeAudit(context, {
    actor: { kind: "session", userId, name: email },
    action: "password.end",
    object: { type: "user", id: userId },
    place: { ownerId: userId },
    before: null,
    after: { revoked_tokens: revoked },
    requestId: oidcRequest,
  });
}
