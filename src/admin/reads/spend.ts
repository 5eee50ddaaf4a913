/** What a workspace, a member or a key has been charged. docs/management.md. */
import { resetsAt, type Layer, type Window } from "../../base/cap-windows.ts";
import type { Queryable } from "../../storage/index.ts";

/** What one workspace, member or key has been charged, in nano-USD, and when its windows start anew. */
interface Spend extends Readonly<Record<Window, bigint>> {
  readonly resetsAt: Readonly<Record<Window, Date | null>>;
}

interface SpendRow {
  readonly total: bigint | null;
  readonly monthly: bigint;
  readonly weekly: bigint;
  readonly daily: bigint;
  readonly at: Date;
}

/** What `id` of `layer` has been charged by now, per window; zeros where nothing was ever charged. */
export async function readSpend(
  database: Queryable,
  workspaceId: string,
  { layer, id }: { readonly layer: Layer; readonly id: string },
): Promise<Spend> {
  const [row] = await database.query<SpendRow>(
    `select c.total_nano as total,
       case when c.last_day >= date_trunc('month', d.today)::date then c.month_nano else 0 end as monthly,
       case when c.last_day >= date_trunc('week', d.today)::date then c.week_nano else 0 end as weekly,
       case when c.last_day >= d.today::date then c.day_nano else 0 end as daily,
       d.at
     from (select x.at, x.at at time zone 'utc' as today from (select ledger_now() as at) x) d
     left join ledger_counters c on c.workspace_id = $1 and c.scope = $2 and c.scope_id = $3`,
    [workspaceId, layer, id],
  );
  const nowMs = (row?.at ?? new Date()).getTime();
  return {
    total: row?.total ?? 0n,
    monthly: row?.monthly ?? 0n,
    weekly: row?.weekly ?? 0n,
    daily: row?.daily ?? 0n,
    resetsAt: {
      total: null,
      monthly: resetsAt("monthly", nowMs),
      weekly: resetsAt("weekly", nowMs),
      daily: resetsAt("daily", nowMs),
    },
  };
}
