/**
 * The caps that have reached a threshold of their workspace. The process that inserts the row of one sends its alert, once. The ledger
 * defines the periods, by the database's clock. docs/callbacks.md "Spend caps".
 */
import { resetsAt, type Layer, type Window } from "../../base/cap-windows.ts";
import { dayText } from "../../base/days.ts";
import type { Queryable } from "../../storage/index.ts";

/** Alerts per transaction: with more callbacks to write it would stay open for longer than the database allows. */
export const alertsMax = 1_000;

/** A call that a cap refused. */
export interface Refusal {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly layer: string;
  readonly window: Window;
  /** The time of the refusal, in Unix milliseconds, by the clock that all gateways share. */
  readonly atMs: number;
}

/** The subject of a look: charged keys with their workspaces, and refusals. */
export interface Seen {
  readonly keys: readonly (readonly [keyId: string, workspaceId: string])[];
  readonly refusals: readonly Refusal[];
}

/** A threshold that was reached, with its cap and spending in nano-USD. */
export interface Reached {
  readonly workspace_id: string;
  readonly scope: Layer;
  readonly scope_id: string;
  readonly cap_window: Window;
  readonly cap_nano: bigint;
  readonly threshold: number;
  readonly spent_nano: bigint;
  /** The display name of the key or the workspace; null for a member, because an email address must not be in texts that are sent. */
  readonly name: string | null;
  readonly workspace_name: string;
}

/** The source of the keys: the given ones, each found by index, or all. */
const seenKeysSql =
  "unnest($1::text[], $2::text[]) as t (workspace_id, id) join api_keys k using (workspace_id, id)";
const everyKey = "api_keys k where coalesce($1::text[], $2::text[]) is null";

/** The refusals, by the object that has the cap. */
const refusedSql = `
  select k.workspace_id, r.layer as scope, r.cap_window,
    case r.layer when 'workspace' then k.workspace_id when 'member' then k.created_by else k.id end as scope_id
  from unnest($5::text[], $6::text[], $7::text[], $8::text[]) as r (workspace_id, key_id, layer, cap_window)
  join api_keys k on k.workspace_id = r.workspace_id and k.id = r.key_id`;

/** The objects with caps that a charge or a refusal concerns, with their caps in the order total, monthly, weekly, daily. */
const cappedSql = `
  select w.id as workspace_id, 'workspace' as scope, w.id as scope_id, w.cap_hard as hard,
    array[w.cap_total_nano, w.cap_monthly_nano, w.cap_weekly_nano, w.cap_daily_nano] as caps
  from workspaces w where w.id in (select workspace_id from touched)
  union all
  select m.workspace_id, 'member', m.user_id, m.cap_hard,
    array[m.cap_total_nano, m.cap_monthly_nano, m.cap_weekly_nano, m.cap_daily_nano]
  from members m where (m.workspace_id, m.user_id) in (select workspace_id, member_id from touched)
  union all
  select k.workspace_id, 'key', k.id, k.cap_hard,
    array[k.cap_total_nano, k.cap_monthly_nano, k.cap_weekly_nano, k.cap_daily_nano]
  from api_keys k where (k.workspace_id, k.id) in (select workspace_id, key_id from touched)`;

/** Inserts a row for each cap, period and threshold that is reached, or was refused at 100 %, and has no row yet. */
const addedSql = `
  insert into spend_alerts (workspace_id, scope, scope_id, cap_window, period_start, cap_nano, threshold, spent_nano, created_at)
  select c.workspace_id, c.scope, c.scope_id, x.cap_window, x.period_start, x.cap, t.threshold, x.spent, $4
  from capped c
  left join ledger_counters s on s.workspace_id = c.workspace_id and s.scope = c.scope and s.scope_id = c.scope_id
  cross join lateral (select date '0001-01-01' as total, date_trunc('month', $3::date::timestamp)::date as month,
    date_trunc('week', $3::date::timestamp)::date as week, $3::date as day) d
  cross join lateral (values ('total', d.total, c.caps[1], coalesce(s.total_nano, 0)),
    ('monthly', d.month, c.caps[2], ledger_since(d.month, s.last_day, s.month_nano)),
    ('weekly', d.week, c.caps[3], ledger_since(d.week, s.last_day, s.week_nano)),
    ('daily', d.day, c.caps[4], ledger_since(d.day, s.last_day, s.day_nano))) x (cap_window, period_start, cap, spent)
  join workspaces w on w.id = c.workspace_id
  cross join unnest(w.alert_thresholds) as t (threshold)
  where x.cap > 0 and (x.spent::numeric * 100 >= x.cap::numeric * t.threshold
    or t.threshold = 100 and c.hard and (c.workspace_id, c.scope, c.scope_id, x.cap_window) in (
      select r.workspace_id, r.scope, r.scope_id, r.cap_window from refused r))
    and not exists (select from spend_alerts a where a.workspace_id = c.workspace_id and a.scope = c.scope and a.scope_id = c.scope_id
      and a.cap_window = x.cap_window and a.period_start = x.period_start and a.cap_nano = x.cap and a.threshold = t.threshold)
  order by 1, 2, 3, 4, 7 limit ${alertsMax}
  on conflict do nothing
  returning workspace_id, scope, scope_id, cap_window, cap_nano, threshold, spent_nano`;

/** The inserted rows, with display names. */
const namedSql = `select a.*, w.name as workspace_name, case a.scope when 'workspace' then w.name else k.name end as name
     from added a join workspaces w on w.id = a.workspace_id
     left join api_keys k on a.scope = 'key' and k.workspace_id = a.workspace_id and k.id = a.scope_id
     order by a.workspace_id, a.scope, a.scope_id, a.cap_window, a.threshold`;

/** True if a refusal is of the current period. A look may come after the period of the refusal has ended. */
const isOfPeriod = ({ window, atMs }: Refusal, nowMs: number): boolean =>
  resetsAt(window, atMs)?.getTime() === resetsAt(window, nowMs)?.getTime();

/** Inserts the missing rows, for `seen` or for all caps; the caller sends their alerts. At most `alertsMax`. */
export function addReached(tx: Queryable, seen: Seen | null, nowMs: number): Promise<Reached[]> {
  const { keys, refusals: all } = seen ?? { keys: null, refusals: [] };
  const refusals = all.filter((one) => isOfPeriod(one, nowMs));
  return tx.query<Reached>(
    `with touched as materialized (
       select k.workspace_id, k.id as key_id, k.created_by as member_id from ${seen === null ? everyKey : seenKeysSql}
     ),
     refused as (${refusedSql}),
     capped as (${cappedSql}),
     added as (${addedSql})
     ${namedSql}`,
    [
      keys?.map(([, workspaceId]) => workspaceId) ?? null,
      keys?.map(([keyId]) => keyId) ?? null,
      dayText(nowMs),
      new Date(nowMs),
      refusals.map(({ workspaceId }) => workspaceId),
      refusals.map(({ keyId }) => keyId),
      refusals.map(({ layer }) => layer),
      refusals.map(({ window }) => window),
    ],
    { name: seen === null ? "spend_alerts_add_all" : "spend_alerts_add" },
  );
}
