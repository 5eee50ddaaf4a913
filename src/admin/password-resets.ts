/**
 * Password resets: an admin makes a link, and its holder chooses a new password. docs/management.md.
 * The password opens every workspace of the user. So the admin must administer all of them, both when making the link and when it
 * is used.
 */
import { GatewayError } from "../base/errors.ts";
import type { Queryable } from "../storage/index.ts";
import {
  changeMany,
  getMember,
  hashFor,
  makeReset,
  invalidReset,
  openReset,
  revokeTokens,
  setPassword,
  type ChangeContext,
  type PasswordReset,
  type MemberReference,
  type RowContext,
} from "../tenancy/index.ts";
import type { PasswordOwner } from "./accounts.ts";
import { adminTokenActor, loadActor, type Actor } from "./actor.ts";
import { writeAudit } from "./audit.ts";
import { oidcProvider } from "./identity.ts";
import { memberKind } from "./kinds.ts";
import { allows, permit } from "./guard.ts";
import type { ThrottledContext } from "./invitation-acceptance.ts";
import type { RequestContext } from "./objects.ts";
import { otherUserWith, sharedPassword } from "./same-password.ts";

const action = "member.reset_password";

interface TargetRow {
  readonly role: "admin" | "user";
  readonly signs_in_elsewhere: boolean;
  readonly workspaces: readonly string[];
}

/** Returns why the actor may not reset a member's password; undefined if they may. */
async function refusalOf(
  database: Queryable,
  actor: Actor,
  userId: string,
): Promise<string | undefined> {
  if (actor.userId === userId) return "Change your own password with POST /auth/change-password.";
  if (actor.organizationAdmin) return undefined;
  const [target] = await database.query<TargetRow>(
    `select u.role,
       exists (select 1 from auth_accounts a where a.user_id = u.id and a.provider_id = $2) as signs_in_elsewhere,
       array(select m.workspace_id from members m where m.user_id = u.id) as workspaces
     from users u where u.id = $1`,
    [userId, oidcProvider],
  );
  if (target === undefined) throw invalidReset();
  const isTheirs = (workspaceId: string): boolean => allows(actor, action, { workspaceId });
  if (target.role === "admin" || !target.workspaces.every(isTheirs)) {
    return "The password opens more than you administer. An organization admin may reset it.";
  }
  if (target.signs_in_elsewhere) {
    return "They sign in with the identity provider. An organization admin may give them a password.";
  }
  return undefined;
}

/** A new link. Its token is never shown again. */
interface MadeReset {
  readonly userId: string;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Makes a member's reset link, replacing an existing one.
 * @throws GatewayError `not_found`, `insufficient_permissions`; `conflict` for a member who has not joined
 */
export function createPasswordReset(
  context: ChangeContext,
  { actor, requestId }: Pick<RequestContext, "actor" | "requestId">,
  reference: MemberReference,
): Promise<MadeReset> {
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    const member = await getMember(within, reference, { forUpdate: true });
    const place = memberKind.place(member);
    permit(actor, action, place, memberKind.label);
    const { workspaceId, userId } = member;
    if (member.status !== "active") {
      throw new GatewayError(
        "conflict",
        "The member has not accepted the invitation yet: send a new invitation instead.",
      );
    }
    const refusal = await refusalOf(database, actor, userId);
    if (refusal !== undefined) throw new GatewayError("insufficient_permissions", refusal);
    const made = await makeReset(within, { userId, workspaceId, madeBy: actor.userId });
    await writeAudit(within, {
      actor,
      requestId,
      action,
      object: { type: memberKind.type, id: userId },
      place,
      before: null,
      after: { expires_at: made.expiresAt },
    });
    return { userId, ...made };
  });
}

/** Returns the reset of a token, if its maker may still make one. @throws GatewayError `not_found` */
export async function readPasswordReset(
  context: RowContext,
  token: string,
  options: { readonly forUpdate?: boolean } = {},
): Promise<PasswordReset> {
  const { database } = context;
  const reset = await openReset(context, token, options);
  const { madeBy, userId, workspaceId } = reset;
  const maker = madeBy === null ? adminTokenActor : await loadActor(database, madeBy, "session");
  const members = await database.query(
    "select 1 from members where workspace_id = $1 and user_id = $2 and status = 'active'",
    [workspaceId, userId],
  );
  // The refusal also covers that the maker still administers the workspace: it checks every workspace of the member.
  const isOff =
    maker === undefined ||
    members.length === 0 ||
    (await refusalOf(database, maker, userId)) !== undefined;
  if (isOff) throw invalidReset();
  return reset;
}

interface NewPassword {
  readonly token: string;
  readonly password: string;
  readonly requestId: string;
}

/**
 * Sets the password that the link's holder chose, once. The user's sessions and personal tokens end.
 * @returns the user's id and the password's hash @throws GatewayError `not_found`; `invalid_value` for the password of another account of theirs
 */
export async function redeemPasswordReset(
  context: ThrottledContext,
  { token, password, requestId }: NewPassword,
): Promise<PasswordOwner> {
  const { email, userId: opened } = await readPasswordReset(context, token);
  const hash = await hashFor(context, email, password);
  const other = await otherUserWith(context, { userId: opened, email, hash });
  if (other !== undefined) throw sharedPassword("password");
  return changeMany(context.database, async (database) => {
    const within = { ...context, database };
    // Locks the user first, as a password change does. If the identity provider confirms them at this moment, the link ends.
    await database.query("select 1 from users where id = $1 for update", [opened]);
    const { userId, workspaceId } = await readPasswordReset(within, token, { forUpdate: true });
    await setPassword(within, userId, { hash, oneTime: false });
    const revoked = await revokeTokens(within, userId);
    await writeAudit(within, {
      actor: { kind: "session", userId, name: email },
      action: "password.reset",
      object: { type: "user", id: userId },
      place: { workspaceId, ownerId: userId },
      before: null,
      after: { revoked_tokens: revoked },
      requestId,
    });
    return { userId, hash };
  });
}
