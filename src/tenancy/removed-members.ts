/** Keeps the data of removed members for ten minutes, so that a removal can be undone. */
import { GatewayError } from "../base/errors.ts";
import type { RowContext } from "./context.ts";
import { notFound } from "./context.ts";
import type { Member, MemberReference, MemberRow } from "./members.ts";
import { memberColumns, memberOfRow } from "./members.ts";

const keptMs = 10 * 60_000;

/** Stores a member's data for a restore. Call it within the transaction that removes them, before the removal. */
export async function keepForRestore(
  { database, clock }: RowContext,
  { workspaceId, userId }: MemberReference,
  disabledKeys: readonly string[],
): Promise<void> {
  const nowMs = clock.now();
  await database.query("delete from removed_members where removed_at <= $1", [
    new Date(nowMs - keptMs),
  ]);
  await database.query(
    `insert into removed_members (workspace_id, user_id, member, disabled_keys, removed_at)
     select workspace_id, user_id, to_jsonb(m), $3::text[], $4 from members m where workspace_id = $1 and user_id = $2
     on conflict (workspace_id, user_id) do update set member = excluded.member, disabled_keys = excluded.disabled_keys,
       removed_at = excluded.removed_at`,
    [workspaceId, userId, disabledKeys, new Date(nowMs)],
  );
}

interface Kept {
  readonly user_id: string;
  readonly disabled_keys: readonly string[];
}

interface Restored {
  readonly member: Member;
  readonly disabledKeys: readonly string[];
  /** The open invitation of their address, if they were invited again since the removal. */
  readonly invited: Member | undefined;
}

/**
 * Restores a removed member, once, by either id that `getMember` takes. The caller enables the keys that were disabled with them, and
 * ends an invitation made since, so that a person is not a member twice.
 * @throws GatewayError `not_found` after ten minutes; `conflict` if they are a member again, perhaps with another account
 */
export async function restoreMember(
  { database, clock }: RowContext,
  { workspaceId, userId: named }: MemberReference,
): Promise<Restored> {
  // Like an invitation, locks the workspace row, so that concurrent restores wait here.
  await database.query("select 1 from workspaces where id = $1 for no key update", [workspaceId]);
  const [kept] = await database.query<Kept>(
    `select user_id, disabled_keys from removed_members
     where workspace_id = $1 and (user_id = $2 or member ->> 'invited_as' = $2) and removed_at > $3
     order by user_id = $2 desc limit 1 for update`,
    [workspaceId, named, new Date(clock.now() - keptMs)],
  );
  if (kept === undefined) throw notFound("member who was removed within ten minutes");
  const userId = kept.user_id;
  const rows = await database.query<MemberRow>(
    `insert into members select was.* from removed_members r, jsonb_populate_record(null::members, r.member) as was
     where r.workspace_id = $1 and r.user_id = $2
     on conflict (workspace_id, user_id) do nothing returning ${memberColumns}`,
    [workspaceId, userId],
  );
  if (rows.length === 0) throw new GatewayError("conflict", "The user is a member already.");
  await database.query("delete from removed_members where workspace_id = $1 and user_id = $2", [
    workspaceId,
    userId,
  ]);
  const others = await database.query<MemberRow>(
    `select ${memberColumns} from members where workspace_id = $1 and user_id <> $2
       and user_id in (select o.id from users u join users o on o.email = u.email where u.id = $2) order by status limit 1 for update`,
    [workspaceId, userId],
  );
  const [other] = others.map(memberOfRow);
  if (other?.status === "active") {
    throw new GatewayError(
      "conflict",
      "A member has their address already: they came back with another account. Remove that member first.",
    );
  }
  return {
    member: memberOfRow(rows[0]!),
    disabledKeys: kept.disabled_keys,
    invited: other,
  };
}
