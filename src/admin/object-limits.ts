/**
 * Limits how many objects users may make: enough for manual or scripted use, but not so many that lists, removals and other
 * organizations become slow. Organization admins, who may provision thousands, are not limited. docs/management.md.
 */
import { counted } from "../base/counted.ts";
import { dayMs, hourMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import { idTime } from "../base/ids.ts";
import type { RowContext } from "../tenancy/index.ts";

interface ObjectLimit {
  readonly most: number;
  readonly singular: string;
  /** Message text: whose objects count, and which. */
  readonly counting: string;
  readonly remedy: string;
  readonly withinMs: number;
  /** Id prefix in a large table, where rows are found by the time in their ids. */
  readonly prefix?: string;
  /**
   * SQL with a row for each counted object. Parameters: owners, id bound if `prefix` is set, and the time since which all new
   * objects count.
   */
  readonly rows: string;
}

/** Ended objects count for a day after their creation, which also limits creating and ending in turn. */
const objectLimits = {
  key: {
    most: 1_000,
    singular: "API key",
    counting:
      "of this member in the workspace, with those of the last day that were revoked or expired",
    remedy: "Revoke what is not used, or ask an organization administrator",
    withinMs: dayMs,
    rows: `select 1 from api_keys where workspace_id = $1 and created_by is not distinct from $2
      and (created_at > $3 or status <> 'revoked' and (expires_at is null or expires_at > $3))`,
  },
  token: {
    most: 100,
    singular: "personal token",
    counting: "of yours, with those of the last day that were revoked",
    remedy: "Revoke what is not used",
    withinMs: dayMs,
    // The gateway's time is a day after $2.
    rows: `select 1 from admin_tokens where user_id = $1
      and (created_at > $2 or revoked_at is null and (expires_at is null or expires_at > $2::timestamptz + interval '24 hours'))`,
  },
  invitation: {
    most: 1_000,
    singular: "member",
    counting: "of this workspace who are invited, or were added within a day",
    remedy: "Revoke invitations that nobody accepts, or ask an organization administrator",
    withinMs: dayMs,
    prefix: "audit",
    // Members who were added and removed again are only in the audit log.
    rows: `(select 1 from members where workspace_id = $1 and status = 'invited' and created_at <= $3)
      union all (select 1 from audit_entries
        where workspace_id = $1 and id > $2 and created_at > $3 and action = 'member.create')`,
  },
  webhookTest: {
    most: 100,
    singular: "test event",
    counting: "of this workspace within an hour",
    remedy: "Wait, then try again",
    withinMs: hourMs,
    prefix: "evt",
    rows: `select 1 from webhook_deliveries where workspace_id = $1 and id > $2 and created_at > $3 and type = 'webhook.test'`,
  },
} as const satisfies Record<string, ObjectLimit>;

/**
 * Checks the limit before a new object is made, in its transaction. Concurrent requests may exceed the limit by a few.
 * @throws GatewayError `conflict`, with what to do
 */
export async function checkObjectLimit(
  { database, clock }: RowContext,
  name: keyof typeof objectLimits,
  ...owners: readonly (string | null)[]
): Promise<void> {
  const limit: ObjectLimit = objectLimits[name];
  const { most, singular, counting, remedy, withinMs, rows } = limit;
  const sinceMs = clock.now() - withinMs;
  // Ids begin with their time; the keys of large tables are workspace and id.
  const first = limit.prefix !== undefined ? [`${limit.prefix}_${idTime(sinceMs)}`] : [];
  const found = await database.query(`${rows} limit ${most}`, [
    ...owners,
    ...first,
    new Date(sinceMs),
  ]);
  if (found.length < most) return;
  const message = `There are ${counted(most, singular)} ${counting}, and no room for more. ${remedy}.`;
  throw new GatewayError("conflict", message);
}
