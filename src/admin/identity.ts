/**
 * Who the identity provider says somebody is. Only here an address proves something: a verified one finds its user, and
 * accepts the invitations that are open for it. Nobody else is found by an address. docs/management.md.
 */
import { newId } from "../base/ids.ts";
import type { Queryable } from "../storage/index.ts";
import {
  addressText,
  changeTogether,
  openInvitationsOf,
  revokeTokens,
  useInvitation,
  useInvitationAs,
  type ChangeContext,
} from "../tenancy/index.ts";
import { writeAudit } from "./audit.ts";
import { noteAccepted } from "./joining.ts";

/** In the audit log, where a request's id would be: the provider's answer has none of ours. */
const oidcRequest = "oidc";
/** The identity provider's name in paths: `/auth/callback/oidc`. */
export const oidcProvider = "oidc";

/** What the provider vouches for. */
export interface Vouched {
  /** Its own id of the person, with its own name ({@link subjectAt}). */
  readonly subject: string;
  readonly email: string;
}

/**
 * A person's id at an identity provider. Two providers may give the same one to different people (`1`, a user name), so the
 * issuer is part of it; `` where the provider gave none. OpenID Connect Core 5.7.
 */
export const subjectAt = (issuer: string, sub: unknown): string =>
  typeof sub === "string" && sub !== "" ? `${issuer} ${sub}` : "";

/** Ids that were kept without their issuer are of the one in force; an id has no space. */
export async function adoptSubjects(database: Queryable, issuer: string): Promise<void> {
  await database.query(
    `update auth_accounts a set account_id = $2::text || ' ' || a.account_id
     where a.provider_id = $1 and strpos(a.account_id, ' ') = 0 and not exists (
       select 1 from auth_accounts o where o.provider_id = $1 and o.account_id = $2::text || ' ' || a.account_id)`,
    [oidcProvider, issuer],
  );
}

/** Forgets what the provider granted at sign-ins of before, which was kept for nothing and opens doors elsewhere. */
export async function forgetTokens(database: Queryable): Promise<void> {
  await database.query(
    `update auth_accounts set access_token = null, refresh_token = null, id_token = null,
       access_token_expires_at = null, refresh_token_expires_at = null
     where access_token is not null or refresh_token is not null or id_token is not null`,
  );
}

/** Links the person with their user, where there is one, and accepts what they are invited to. */
export async function meetPerson(context: ChangeContext, vouched: Vouched): Promise<void> {
  const email = addressText(vouched.email);
  await changeTogether(context.database, async (database) => {
    const within = { ...context, database };
    // Locked in the order in which an invitation that is accepted locks.
    const open = await openInvitationsOf(within, { email });
    const userId =
      (await linkedUser(database, vouched.subject)) ?? (await link(within, vouched.subject, email));
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

/** The one whose address was verified before, else whoever works under it, else whoever is invited. */
const ofAddress = `
  select u.id, u.email_verified from users u left join members m on m.user_id = u.id
    and (m.status = 'active' or m.invitation_expires_at > $2)
  where u.email = $1 and (u.email_verified or m.user_id is not null)
  order by u.email_verified desc, m.status, u.id limit 1`;

async function link(
  context: ChangeContext,
  subject: string,
  email: string,
): Promise<string | undefined> {
  const { database } = context;
  const now = new Date(context.clock.now());
  const [user] = await database.query<{ id: string; email_verified: boolean }>(ofAddress, [
    email,
    now,
  ]);
  if (user === undefined) return undefined;
  const linked = await database.query(
    `insert into auth_accounts (id, user_id, provider_id, account_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5) on conflict (provider_id, account_id) do nothing returning 1`,
    [newId("account", context.clock.now()), user.id, oidcProvider, subject, now],
  );
  // In another tab of theirs, a moment ago.
  if (linked.length === 0) return linkedUser(database, subject);
  if (!user.email_verified) await takeOver(context, { userId: user.id, email });
  return user.id;
}

/**
 * The identity provider has vouched for a user for the first time. Until then the address was somebody's claim, and the
 * password may be known to whoever added the user: it ends, with the sessions and tokens that came of it.
 */
async function takeOver(
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
