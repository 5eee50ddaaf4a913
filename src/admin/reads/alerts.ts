/** Lists alerts of spend caps that were nearly or fully used, as far as the reader may see them. docs/callbacks.md "Spend caps". */
import { wireCased } from "../../base/casing.ts";
import { formatUsd } from "../../base/money.ts";
import type { Queryable } from "../../storage/index.ts";
import {
  invalidCursor,
  pageLimit,
  visibilityParams,
  whereVisible,
  type PageRequest,
  type Visibility,
} from "../../tenancy/index.ts";

interface AlertRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly scope: string;
  readonly scope_id: string;
  readonly name: string | null;
  readonly cap_window: string;
  readonly cap_nano: bigint;
  readonly threshold: number;
  readonly spent_nano: bigint;
  readonly created_at: Date;
}

interface AlertFilter extends PageRequest {
  readonly visibility: Visibility;
  readonly workspaceId?: string | undefined;
}

/** The last alert of a page: its time, and a hash that distinguishes alerts of that time. */
const cursorShape = /^(\d{13})_([0-9a-f]{32})$/;

function after(cursor: string | undefined): readonly [at: Date | null, id: string | null] {
  if (cursor === undefined) return [null, null];
  const [, ms, id] = cursorShape.exec(cursor) ?? [];
  if (ms !== undefined && id !== undefined) return [new Date(Number(ms)), id];
  throw invalidCursor();
}

/** A member owns alerts about them, a key's owner those about the key. Alerts about a workspace have no owner. */
const statement = `
  with seen as (
    select a.*, md5(concat_ws('|', a.workspace_id, a.scope, a.scope_id, a.cap_window, a.period_start, a.cap_nano, a.threshold)) as id,
      case a.scope when 'workspace' then w.name when 'member' then u.email else k.name end as name,
      case a.scope when 'member' then a.scope_id when 'key' then k.created_by end as owner
    from spend_alerts a
    join workspaces w on w.id = a.workspace_id
    left join users u on a.scope = 'member' and u.id = a.scope_id
    left join api_keys k on a.scope = 'key' and k.workspace_id = a.workspace_id and k.id = a.scope_id
    where ($1::text is null or a.workspace_id = $1)
  )
  select id, workspace_id, scope, scope_id, name, cap_window, cap_nano, threshold, spent_nano, created_at from seen
  where ${whereVisible(5, { workspace: "workspace_id", owner: "owner" })}
    and ($2::timestamptz is null or (date_trunc('milliseconds', created_at), id) < ($2, $3))
  order by date_trunc('milliseconds', created_at) desc, id desc limit $4`;

/** Lists alerts, newest first. @throws GatewayError `invalid_value` (limit, cursor) */
export async function listAlerts(
  database: Queryable,
  filter: AlertFilter,
): Promise<{ readonly records: readonly object[]; readonly nextCursor: string | null }> {
  const limit = pageLimit(filter.limit);
  const rows = await database.query<AlertRow>(statement, [
    filter.workspaceId ?? null,
    ...after(filter.cursor),
    limit + 1,
    ...visibilityParams(filter.visibility),
  ]);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor =
    rows.length > limit && last !== undefined ? `${last.created_at.getTime()}_${last.id}` : null;
  return { records: page.map(render), nextCursor };
}

const render = ({ scope, scope_id, cap_window, cap_nano, spent_nano, ...row }: AlertRow) => ({
  ...wireCased(row),
  object: "spend_alert",
  layer: scope,
  layer_id: scope_id,
  window: cap_window,
  cap: formatUsd(cap_nano),
  spent: formatUsd(spent_nano),
  refused: spent_nano * 100n < cap_nano * BigInt(row.threshold),
});
