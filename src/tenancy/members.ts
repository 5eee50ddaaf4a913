/** Members: which user belongs to which workspace, with which role and caps. Requirements: CAP, VIS. */
import type { SnakeCased } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import { changeRow } from "./changes.ts";
import type { ChangeContext, Page, PageRequest, ReadOptions, RowContext } from "./context.ts";
import { cursorOf, lockClause, onlyRow, pageLimit } from "./context.ts";
import { mergeRateLimits, rateLimitsOfRow, rateLimitsParam } from "./rate-limits.ts";
import type { RateLimits, RateLimitsJson, RateLimitsPatch } from "./rate-limits.ts";
import type { SpendCaps, SpendCapsPatch, SpendCapsRow } from "./spend-caps.ts";
import {
  mergeSpendCaps,
  noSpendCaps,
  spendCapColumns,
  spendCapParams,
  spendCapsOfRow,
} from "./spend-caps.ts";
import { seesEverything, visibilityParams, whereVisible, type Visibility } from "./visibility.ts";

export type MemberRole = "admin" | "member";

/** invited: no rights yet. active: accepted the invitation, or was added before invitations existed. */
export type MemberStatus = "invited" | "active";

/** An open invitation, without its token. */
export interface Invitation {
  readonly id: string;
  readonly expiresAt: Date;
}

export interface Member {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly status: MemberStatus;
  /** null for an active member. */
  readonly invitation: Invitation | null;
  readonly spendCaps: SpendCaps;
  readonly rateLimits: RateLimits | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type MemberRow = SnakeCased<Omit<Member, "invitation" | "spendCaps" | "rateLimits">> &
  SpendCapsRow & {
    readonly invitation_id: string | null;
    readonly invitation_expires_at: Date | null;
    readonly rate_limits: Partial<RateLimitsJson> | null;
  };

/** Absent: unchanged. null: no limits. */
export interface MemberPatch {
  readonly role?: MemberRole | undefined;
  readonly spendCaps?: SpendCapsPatch | null | undefined;
  readonly rateLimits?: RateLimitsPatch | null | undefined;
}

export interface MemberReference {
  readonly workspaceId: string;
  readonly userId: string;
}

export const memberColumns = `workspace_id, user_id, role, status, invitation_id, invitation_expires_at, ${spendCapColumns},
  rate_limits, created_at, updated_at`;

export function memberOfRow(row: MemberRow): Member {
  return {
    workspaceId: row.workspace_id,
    userId: row.user_id,
    role: row.role,
    status: row.status,
    invitation:
      row.invitation_id === null
        ? null
        : { id: row.invitation_id, expiresAt: row.invitation_expires_at! },
    spendCaps: spendCapsOfRow(row),
    rateLimits: rateLimitsOfRow(row.rate_limits),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Adds an active member. @throws GatewayError `not_found` (workspace or user), `conflict` when already a member, `invalid_value` */
export async function addMember(
  context: RowContext,
  input: MemberReference & MemberPatch & { readonly role: MemberRole },
): Promise<Member> {
  const { database, clock } = context;
  const known = await database.query(
    "select 1 from workspaces w cross join users u where w.id = $1 and u.id = $2",
    [input.workspaceId, input.userId],
  );
  onlyRow(known, "workspace or user");
  const [row] = await database.query<MemberRow>(
    `insert into members (workspace_id, user_id, role, created_at, updated_at, ${spendCapColumns}, rate_limits)
     values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10::jsonb)
     on conflict (workspace_id, user_id) do nothing returning ${memberColumns}`,
    [
      input.workspaceId,
      input.userId,
      input.role,
      new Date(clock.now()),
      ...spendCapParams(mergeSpendCaps(noSpendCaps, input.spendCaps)),
      rateLimitsParam(mergeRateLimits(null, input.rateLimits)),
    ],
  );
  if (row === undefined) throw new GatewayError("conflict", "The user is a member already.");
  return memberOfRow(row);
}

/**
 * Returns one member by their user id. If they accepted an invitation as another user, the user id of that invitation works too.
 * @throws GatewayError `not_found`
 */
export async function getMember(
  context: RowContext,
  reference: MemberReference,
  options?: ReadOptions,
): Promise<Member> {
  const rows = await context.database.query<MemberRow>(
    `select ${memberColumns} from members where workspace_id = $1 and (user_id = $2 or invited_as = $2)
     order by user_id = $2 desc limit 1${lockClause(options)}`,
    [reference.workspaceId, reference.userId],
  );
  return memberOfRow(onlyRow(rows, "member"));
}

/**
 * Locks an active membership until the end of the transaction: a removal waits for it. @throws GatewayError `not_found` (workspace)
 * after a removal, the same error as for users who may not see the workspace
 */
export async function lockMembership(
  { database }: Pick<RowContext, "database">,
  { workspaceId, userId }: MemberReference,
): Promise<void> {
  const rows = await database.query(
    "select 1 from members where workspace_id = $1 and user_id = $2 and status = 'active' for key share",
    [workspaceId, userId],
  );
  onlyRow(rows, "workspace");
}

const visibleMembers = whereVisible(5, { workspace: "workspace_id", owner: "user_id" });
const named = `exists (select from users u where u.id = members.user_id
  and (position(lower($4) in lower(u.email)) > 0 or position(lower($4) in lower(u.name)) > 0))`;

/** The members of a workspace, the newest users first. */
export async function listMembers(
  context: RowContext,
  filter: PageRequest & {
    readonly workspaceId: string;
    /** Part of the name or the e-mail, case-insensitive. */
    readonly q?: string | undefined;
    /** Limits the list to what its reader may see; everything if absent. */
    readonly visibility?: Visibility | undefined;
  },
): Promise<Page<Member>> {
  const limit = pageLimit(filter.limit);
  const rows = await context.database.query<MemberRow>(
    `select ${memberColumns} from members
     where workspace_id = $1 and ($2::text is null or user_id < $2) and ($4::text is null or ${named}) and ${visibleMembers}
     order by user_id desc limit $3`,
    [
      filter.workspaceId,
      cursorOf(filter, "user"),
      limit + 1,
      filter.q ?? null,
      ...visibilityParams(filter.visibility ?? seesEverything),
    ],
  );
  const records = rows.slice(0, limit).map(memberOfRow);
  const more = rows.length > limit;
  return { records, nextCursor: more ? (records.at(-1)?.userId ?? null) : null };
}

/**
 * Ends a membership. Everything the member made stays. The caller disables their keys, since the member's caps that bounded those
 * keys no longer exist (T70). @throws GatewayError `not_found`
 */
export async function removeMember(
  context: RowContext,
  reference: MemberReference,
): Promise<Member> {
  const rows = await context.database.query<MemberRow>(
    `delete from members where workspace_id = $1 and user_id = $2 returning ${memberColumns}`,
    [reference.workspaceId, reference.userId],
  );
  return memberOfRow(onlyRow(rows, "member"));
}

/** Changes only the fields that the patch names. @throws GatewayError `not_found`, `invalid_value` */
export async function changeMember(
  context: ChangeContext,
  reference: MemberReference,
  patch: MemberPatch,
): Promise<Member> {
  const keys = [reference.workspaceId, reference.userId];
  // Announced as a change of the workspace, because the ledger holds allowances reserved under the old caps.
  const { member } = await changeRow(context.database, "workspaces", async (tx) => {
    const found = await tx.query<MemberRow>(
      `select ${memberColumns} from members where workspace_id = $1 and user_id = $2 for update`,
      keys,
    );
    const current = memberOfRow(onlyRow(found, "member"));
    const rows = await tx.query<MemberRow>(
      `update members set role = $3, updated_at = $4, cap_total_nano = $5, cap_monthly_nano = $6, cap_weekly_nano = $7,
         cap_daily_nano = $8, cap_hard = $9, rate_limits = $10::jsonb
       where workspace_id = $1 and user_id = $2 returning ${memberColumns}`,
      [
        ...keys,
        patch.role ?? current.role,
        new Date(context.clock.now()),
        ...spendCapParams(mergeSpendCaps(current.spendCaps, patch.spendCaps)),
        rateLimitsParam(mergeRateLimits(current.rateLimits, patch.rateLimits)),
      ],
    );
    return { id: reference.workspaceId, member: memberOfRow(onlyRow(rows, "member")) };
  });
  return member;
}
