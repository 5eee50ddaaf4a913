/**
 * `tollgate verify`: recomputes every balance and counter from the entries and open holds. Design section 5.
 * All of it reads one snapshot, so it prints no difference while traffic runs either.
 */
import type { Database, Queryable } from "../storage/index.ts";

/** One number that is not what its sources add up to. */
export interface Difference {
  readonly workspaceId: string;
  /** Which number: `account credits`, `key key_1 daily`, `entry entry_7 balance_after`, ... */
  readonly what: string;
  readonly recordedNano: bigint;
  readonly computedNano: bigint;
}

interface DifferenceRow {
  readonly workspace_id: string;
  readonly what: string;
  readonly recorded: string;
  readonly computed: string;
}

const accounts = `
  with computed as (
    select workspace_id, sum(credits) as credits, sum(charged) as charged, sum(held) as held
    from (
      select workspace_id, case when kind = 'credit' then amount_nano else 0 end as credits,
        case when kind = 'charge' then amount_nano else 0 end as charged, 0 as held
      from ledger_entries
      union all
      select workspace_id, 0, 0, amount_nano from ledger_holds
    ) x
    group by workspace_id
  )
  select coalesce(a.workspace_id, c.workspace_id) as workspace_id, 'account ' || n.name as what,
    n.recorded::text as recorded, n.computed::text as computed
  from ledger_accounts a
  full join computed c on c.workspace_id = a.workspace_id
  cross join lateral (values
    ('credits', coalesce(a.credits_nano, 0), coalesce(c.credits, 0)),
    ('charged', coalesce(a.charged_nano, 0), coalesce(c.charged, 0)),
    ('held', coalesce(a.held_nano, 0), coalesce(c.held, 0))
  ) n (name, recorded, computed)
  where n.recorded <> n.computed`;

const scopes = `(values ('workspace', x.workspace_id), ('member', x.member_id), ('key', x.key_id)) as s (scope, scope_id)`;

const counters = `
  with charges as (
    select x.workspace_id, s.scope, s.scope_id, x.amount_nano, (x.created_at at time zone 'utc')::date as day
    from ledger_entries x cross join lateral ${scopes}
    where x.kind = 'charge' and s.scope_id is not null
  ),
  charged as (
    select c.workspace_id, c.scope, c.scope_id, sum(c.amount_nano) as total,
      sum(c.amount_nano) filter (where date_trunc('month', c.day::timestamp)::date = k.month_start) as month,
      sum(c.amount_nano) filter (where date_trunc('week', c.day::timestamp)::date = k.week_start) as week,
      sum(c.amount_nano) filter (where c.day = k.day_start) as day
    from charges c
    left join ledger_spend k on k.workspace_id = c.workspace_id and k.scope = c.scope and k.scope_id = c.scope_id
    group by 1, 2, 3
  )
  select workspace_id, scope || ' ' || scope_id || ' ' || n.name as what,
    n.recorded::text as recorded, n.computed::text as computed
  from ledger_spend k
  full join charged c using (workspace_id, scope, scope_id)
  cross join lateral (values
    ('total', coalesce(k.total_nano, 0), coalesce(c.total, 0)),
    ('monthly', coalesce(k.month_nano, 0), coalesce(c.month, 0)),
    ('weekly', coalesce(k.week_nano, 0), coalesce(c.week, 0)),
    ('daily', coalesce(k.day_nano, 0), coalesce(c.day, 0))
  ) n (name, recorded, computed)
  where n.recorded <> n.computed`;

const balances = `
  select workspace_id, 'entry entry_' || entry || ' balance_after' as what,
    balance_after_nano::text as recorded, computed::text as computed
  from (
    select workspace_id, entry, balance_after_nano,
      sum(case kind when 'credit' then amount_nano when 'charge' then -amount_nano else 0 end)
        over (partition by workspace_id order by entry) as computed
    from ledger_entries
  ) x
  where balance_after_nano <> computed`;

const resolvedHolds = `
  select h.workspace_id, 'hold ' || h.id || ' is open and has an entry' as what,
    h.amount_nano::text as recorded, '0' as computed
  from ledger_holds h join ledger_entries e on e.workspace_id = h.workspace_id and e.reference = h.id`;

async function find(tx: Queryable, sql: string): Promise<Difference[]> {
  const rows = await tx.query<DifferenceRow>(`${sql} order by 1, 2 limit 1000`);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    what: row.what,
    recordedNano: BigInt(row.recorded),
    computedNano: BigInt(row.computed),
  }));
}

/** Every difference that a transaction sees (at most a thousand of each kind). */
export async function differencesIn(tx: Queryable): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const sql of [accounts, counters, balances, resolvedHolds])
    found.push(...(await find(tx, sql)));
  return found;
}

const verifyMsMax = 3_600_000;

/** Every difference in one snapshot; an empty list is a ledger that adds up. */
export function verifyLedger(database: Database): Promise<Difference[]> {
  return database.transaction(
    async (tx) => {
      await tx.query("set local statement_timeout = 0");
      return differencesIn(tx);
    },
    { isolation: "repeatable read", readOnly: true, msMax: verifyMsMax },
  );
}
