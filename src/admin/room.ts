/**
 * How many objects people may make: enough for any use by hand or by script, and not so many that lists, removals and other
 * organizations become slow. Organization administrators, who may provision thousands, are not counted. docs/management.md.
 */
import { counted } from "../base/counted.ts";
import { dayMs, hourMs } from "../base/durations.ts";
import { GatewayError } from "../base/errors.ts";
import { idTime } from "../base/ids.ts";
import type { RowContext } from "../tenancy/index.ts";

interface Room {
  readonly most: number;
  readonly singular: string;
  /** Whose they are, and which count. */
  readonly counting: string;
  readonly remedy: string;
  readonly withinMs: number;
  /** Of ids in a large table, where rows are found by the time that these begin with. */
  readonly prefix?: string;
  /** One row for each that counts; whose they are, then since when new ones count anyway. */
  readonly rows: string;
}

/** What ended counts for a day after it was made: making and ending in turn is bounded too. */
const rooms = {
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
    rows: `select 1 from admin_tokens where user_id = $1
      and (created_at > $2 or revoked_at is null and (expires_at is null or expires_at > now()))`,
  },
  invitation: {
    most: 1_000,
    singular: "member",
    counting: "of this workspace who are invited, or were added within a day",
    remedy: "Revoke invitations that nobody accepts, or ask an organization administrator",
    withinMs: dayMs,
    prefix: "audit",
    // Who was added and removed in turn is in the log of changes alone.
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
} as const satisfies Record<string, Room>;

/**
 * Before one more is made, in its transaction. Several that are made at once may be a few too many.
 * @throws GatewayError `conflict`, with what to do
 */
export async function checkRoom(
  { database, clock }: RowContext,
  name: keyof typeof rooms,
  ...whose: readonly (string | null)[]
): Promise<void> {
  const room: Room = rooms[name];
  const { most, singular, counting, remedy, withinMs, rows } = room;
  const sinceMs = clock.now() - withinMs;
  // Ids begin with their time, and the keys of the large tables with the workspace and the id.
  const first = room.prefix !== undefined ? [`${room.prefix}_${idTime(sinceMs)}`] : [];
  const found = await database.query(`${rows} limit ${most}`, [
    ...whose,
    ...first,
    new Date(sinceMs),
  ]);
  if (found.length < most) return;
  const message = `There are ${counted(most, singular)} ${counting}, and no room for more. ${remedy}.`;
  throw new GatewayError("conflict", message);
}
