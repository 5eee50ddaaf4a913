/** Reads the spend of workspaces, members and keys. docs/management.md. */
import { resetsAt, type Layer, type Window } from "../../base/cap-windows.ts";
import type { Queryable } from "../../storage/index.ts";

/** The charges of one workspace, member or key in nano-USD, and when its windows reset. */
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

/** One workspace, member or key. */
interface Place {
  readonly workspaceId: string;
  readonly id: string;
}

/** Returns the current charges of each place of `layer`, per window, in the same order; zeros if nothing was ever charged. */
export async function readSpends(
  database: Queryable,
  layer: Layer,
  places: readonly Place[],
): Promise<Spend[]> {
  if (places.length === 0) return [];
  const rows = await database.query<SpendRow>(
    `select c.total_nano as total,
       ledger_since(date_trunc('month', d.today)::date, c.last_day, c.month_nano) as monthly,
       ledger_since(date_trunc('week', d.today)::date, c.last_day, c.week_nano) as weekly,
       ledger_since(d.today::date, c.last_day, c.day_nano) as daily,
       d.at
     from (select x.at, x.at at time zone 'utc' as today from (select ledger_now() as at) x) d
     cross join unnest($2::text[], $3::text[]) with ordinality p (workspace_id, scope_id, place)
     left join ledger_counters c on c.workspace_id = p.workspace_id and c.scope = $1 and c.scope_id = p.scope_id
     order by p.place`,
    [layer, places.map(({ workspaceId }) => workspaceId), places.map(({ id }) => id)],
  );
  return rows.map(({ total, monthly, weekly, daily, at }) => {
    const nowMs = at.getTime();
    return {
      total: total ?? 0n,
      monthly,
      weekly,
      daily,
      resetsAt: {
        total: null,
        monthly: resetsAt("monthly", nowMs),
        weekly: resetsAt("weekly", nowMs),
        daily: resetsAt("daily", nowMs),
      },
    };
  });
}

/** Returns the current charges of one workspace, member or key. */
export async function readSpend(
  database: Queryable,
  workspaceId: string,
  { layer, id }: { readonly layer: Layer; readonly id: string },
): Promise<Spend> {
  const [spend] = await readSpends(database, layer, [{ workspaceId, id }]);
  return spend!;
}
