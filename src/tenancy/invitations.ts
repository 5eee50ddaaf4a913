/**
 * Invitations into a workspace. The holder of the link accepts it, as a new user or as an existing one. Until then the invited member
 * has no rights, and the user created for them belongs to this invitation only. An existing user with the same address is neither
 * looked up nor changed, so that an invitation reveals nothing about that user.
 */
import { dayMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { changeRow } from "./changes.ts";
import { checkName } from "./checks.ts";
import { onlyRow, type ChangeContext, type RowContext } from "./context.ts";
import { hashFor, hasJoined, removeUser, revokeTokens, setPassword } from "./logins.ts";
import type { Member, MemberRole, MemberRow } from "./members.ts";
import { memberColumns, memberOfRow, removeMember } from "./members.ts";
import { linkTokenHash, makeLinkToken } from "./link-token.ts";
import { oneTimePassword } from "./passwords.ts";
import type { SpendCapsPatch } from "./spend-caps.ts";
import { mergeSpendCaps, noSpendCaps, spendCapColumns, spendCapParams } from "./spend-caps.ts";
import { changeUser, checkEmail, createUser } from "./users.ts";

const scheme = "gw_inv_";
/** How long an invitation is open. */
export const invitationDays = 7;
const openMs = invitationDays * dayMs;

export interface InvitationInput {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string | undefined;
  readonly role: MemberRole;
  readonly password: FirstPassword;
  readonly spendCaps: SpendCapsPatch | null | undefined;
}

/** A password that another person sets for the member, hashed. */
export interface FirstPassword {
  readonly hash: string;
  /** True: it opens one session, in which the member chooses a new one. */
  readonly oneTime: boolean;
  /** The generated password, to be shown once; undefined if one was chosen. */
  readonly made: string | undefined;
}

interface ChosenPassword {
  readonly email: string;
  readonly password: string | undefined;
  /** True if the operator of the gateway chose it. It is then permanent at once: an operator could impersonate anyone anyway. */
  readonly byOperator: boolean;
}

/**
 * Hashes the password of an invitation, before its transaction; generates one if none was chosen.
 * @throws GatewayError `invalid_value` (email)
 */
export async function firstPassword(
  context: RowContext,
  { email, password, byOperator }: ChosenPassword,
): Promise<FirstPassword> {
  const made = password === undefined ? oneTimePassword() : undefined;
  const hash = await hashFor(context, checkEmail(email), password ?? made!);
  return { hash, made, oneTime: made !== undefined || !byOperator };
}

export interface Invited {
  readonly member: Member;
  /** The member before this invitation, if they were invited already; that earlier invitation has ended. */
  readonly replaced: Member | undefined;
  /** Shown once, as part of the link. */
  readonly token: string;
  /** The generated password; undefined if one was chosen. */
  readonly oneTimePassword: string | undefined;
}

/**
 * Invites an address into a workspace, within a transaction, and replaces its earlier invitation. Its member keeps their user id,
 * unless they have joined elsewhere since: an admin here may not set their password.
 * @throws GatewayError `invalid_value`, `not_found` (workspace), `conflict` when already a member
 */
export async function invite(context: RowContext, input: InvitationInput): Promise<Invited> {
  const email = checkEmail(input.email);
  const replaced = await lockMember(context, input.workspaceId, email);
  if (replaced !== undefined) await lockSessions(context, replaced.userId);
  const isElsewhere = replaced !== undefined && (await hasJoined(context, replaced.userId));
  if (isElsewhere) await removeMember(context, replaced);
  const known = isElsewhere ? undefined : replaced?.userId;
  const { name, password } = input;
  const userId = await userOf(context, { email, name, password }, known);
  const { token, hash: tokenHash } = makeLinkToken(scheme);
  const nowMs = context.clock.now();
  const rows = await context.database.query<MemberRow>(
    `insert into members (workspace_id, user_id, role, status, invitation_id, invitation_hash, invitation_expires_at,
       created_at, updated_at, ${spendCapColumns})
     values ($1, $2, $3, 'invited', $4, $5, $6, $7, $7, $8, $9, $10, $11, $12)
     on conflict (workspace_id, user_id) do update set role = excluded.role, invitation_id = excluded.invitation_id,
       invitation_hash = excluded.invitation_hash, invitation_expires_at = excluded.invitation_expires_at,
       updated_at = excluded.updated_at, cap_total_nano = excluded.cap_total_nano, cap_monthly_nano = excluded.cap_monthly_nano,
       cap_weekly_nano = excluded.cap_weekly_nano, cap_daily_nano = excluded.cap_daily_nano, cap_hard = excluded.cap_hard
     returning ${memberColumns}`,
    [
      input.workspaceId,
      userId,
      input.role,
      newId("inv", nowMs),
      tokenHash,
      new Date(nowMs + openMs),
      new Date(nowMs),
      ...spendCapParams(mergeSpendCaps(noSpendCaps, input.spendCaps)),
    ],
  );
  const member = memberOfRow(onlyRow(rows, "member"));
  return { member, replaced, token, oneTimePassword: password.made };
}

/** Locks and returns the invited member with this address. Concurrent invitations wait here. @throws GatewayError `conflict` if active */
async function lockMember(
  { database }: RowContext,
  workspaceId: string,
  email: string,
): Promise<Member | undefined> {
  onlyRow(
    await database.query("select 1 from workspaces where id = $1 for no key update", [workspaceId]),
    "workspace",
  );
  const rows = await database.query<MemberRow>(
    `select ${memberColumns} from members where workspace_id = $1
       and user_id in (select u.id from users u where u.email = $2) order by status limit 1 for update`,
    [workspaceId, email],
  );
  const [found] = rows.map(memberOfRow);
  if (found?.status === "active")
    throw new GatewayError("conflict", "The user is a member already.");
  return found;
}

/** Locks the user's sessions: a join through one ends before `hasJoined` reads, or finds its session gone. */
const lockSessions = ({ database }: RowContext, userId: string): Promise<unknown> =>
  database.query("select 1 from auth_sessions where user_id = $1 for update", [userId]);

/** Returns the user of the replaced invitation, updated, or a new user for this invitation alone. */
async function userOf(
  context: RowContext,
  person: Pick<InvitationInput, "email" | "name" | "password">,
  known: string | undefined,
): Promise<string> {
  const { email, name = email } = person;
  const { hash, oneTime } = person.password;
  if (known === undefined) {
    const { id } = await createUser(context, { email, name, role: "user", hash, oneTime });
    return id;
  }
  await changeUser(context, known, { name: person.name });
  await setPassword(context, known, { hash, oneTime });
  // Tokens made in a session after the earlier invitation expired.
  await revokeTokens(context, known);
  return known;
}

/** An open invitation: its workspace and its invited member. */
export interface OpenInvitation {
  readonly member: Member;
  readonly email: string;
  readonly workspaceName: string;
  readonly organizationName: string | null;
}

const invalidInvitation = (): GatewayError =>
  new GatewayError(
    "not_found",
    "There is no such invitation: it was used, taken back or replaced, it has expired, or its link is incomplete. Ask for a new one.",
  );

interface OpenRow extends MemberRow {
  readonly email: string;
  readonly workspace_name: string;
  readonly organization_name: string | null;
}

/** The open invitation of a token. @throws GatewayError `not_found`, in the same words whatever is wrong with it */
export async function openInvitation(
  { database, clock }: RowContext,
  token: string,
): Promise<OpenInvitation> {
  const hash = linkTokenHash(scheme, token);
  if (hash === undefined) throw invalidInvitation();
  const [row] = await database.query<OpenRow>(
    `select m.*, u.email, w.name as workspace_name, o.name as organization_name
     from members m join users u on u.id = m.user_id join workspaces w on w.id = m.workspace_id
     left join organizations o on o.id = w.organization_id
     where m.invitation_hash = $1 and m.invitation_expires_at > $2`,
    [hash, new Date(clock.now())],
  );
  if (row === undefined) throw invalidInvitation();
  return {
    member: memberOfRow(row),
    email: row.email,
    workspaceName: row.workspace_name,
    organizationName: row.organization_name,
  };
}

const accepted = `status = 'active', invitation_id = null, invitation_hash = null, invitation_expires_at = null`;

/**
 * Accepts an invitation, within a transaction: its user becomes an active member. Only one of concurrent calls succeeds. Announced as a
 * change of the workspace: the member may have keys in it, which the member's caps and limits bind from now on.
 * @throws GatewayError `not_found`
 */
export async function useInvitation(
  { database, clock }: ChangeContext,
  { workspaceId, userId, invitation }: Member,
): Promise<Member> {
  const { member } = await changeRow(database, "workspaces", async (tx) => {
    const [row] = await tx.query<MemberRow>(
      `update members set ${accepted}, updated_at = $4
       where workspace_id = $1 and user_id = $2 and invitation_id = $3 and invitation_expires_at > $4
       returning ${memberColumns}`,
      [workspaceId, userId, invitation?.id ?? null, new Date(clock.now())],
    );
    if (row === undefined) throw invalidInvitation();
    return { id: workspaceId, member: memberOfRow(row) };
  });
  return member;
}

/**
 * Accepts an invitation for an existing user: the membership becomes theirs, and the user created for the invitation is deleted.
 * @throws GatewayError `not_found`; `conflict` when they are a member already
 */
export async function useInvitationAs(
  context: ChangeContext,
  invited: Member,
  userId: string,
): Promise<Member> {
  const { workspaceId } = invited;
  await useInvitation(context, invited);
  const rows = await context.database.query<MemberRow>(
    `update members set user_id = $3, invited_as = $2 where workspace_id = $1 and user_id = $2
       and not exists (select 1 from members m where m.workspace_id = $1 and m.user_id = $3)
     returning ${memberColumns}`,
    [workspaceId, invited.userId, userId],
  );
  if (rows.length === 0)
    throw new GatewayError("conflict", "You are a member of this workspace already.");
  await removeUser(context, invited.userId);
  return memberOfRow(rows[0]!);
}

/** Sets the name and the password that a user chose on accepting an invitation. */
export async function claimUser(
  context: RowContext,
  userId: string,
  { name, hash }: { readonly name: string | undefined; readonly hash: string },
): Promise<void> {
  await changeUser(context, userId, { name: name === undefined ? undefined : checkName(name) });
  await setPassword(context, userId, { hash, oneTime: false });
}

/** The open invitations of a user or of an address, locked. */
export async function openInvitationsOf(
  { database, clock }: RowContext,
  whose: { readonly userId: string } | { readonly email: string },
): Promise<Member[]> {
  const rows = await database.query<MemberRow>(
    `select ${memberColumns} from members where invitation_expires_at > $3
       and user_id in (select u.id from users u where u.id = $1 or u.email = $2) order by workspace_id for update`,
    [
      "userId" in whose ? whose.userId : null,
      "email" in whose ? whose.email : null,
      new Date(clock.now()),
    ],
  );
  return rows.map(memberOfRow);
}

/** Locks the open invitations of one person's users, except those of other users to workspaces where `joiner` is a member. */
export async function openInvitationsFor(
  { database, clock }: RowContext,
  { userIds, joiner }: { readonly userIds: readonly string[]; readonly joiner: string },
): Promise<Member[]> {
  const rows = await database.query<MemberRow>(
    `select ${memberColumns} from members where invitation_expires_at > $3 and user_id = any($1::text[])
       and (user_id = $2 or not exists (
         select 1 from members m where m.workspace_id = members.workspace_id and m.user_id = $2))
     order by workspace_id for update`,
    [userIds, joiner, new Date(clock.now())],
  );
  return rows.map(memberOfRow);
}

/** The invited member of an invitation, by its id. @throws GatewayError `not_found` */
export async function getInvited(
  { database }: RowContext,
  { workspaceId, id }: { readonly workspaceId: string; readonly id: string },
): Promise<Member> {
  const rows = await database.query<MemberRow>(
    `select ${memberColumns} from members where workspace_id = $1 and invitation_id = $2 for update`,
    [workspaceId, id],
  );
  return memberOfRow(onlyRow(rows, "invitation"));
}
