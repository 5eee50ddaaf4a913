/**
 * The part of `tollgate verify` that compares usage with the ledger: the charges in the hourly and daily sums against the entries
 * folded into them. Cost is compared to the nano-dollar, by hour, key and member, and by day for each value of every dimension. Tags
 * cover a part of each day: the values of one name never exceed the day's total. Sums over all members equal the sums of the members.
 */
import type { Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";

interface Row {
  readonly workspace_id: string;
  readonly what: string;
  readonly recorded: string;
  readonly computed: string;
}

/** Folded entries by hour, key and member, against the hourly sums. */
const hoursSql = `
  with counted as (
    select e.workspace_id, date_trunc('hour', e.created_at, 'UTC') as hour, coalesce(e.key_id, '') as key_id,
      coalesce(e.member_id, '') as member_id, sum(e.amount_nano) as cost
    from ledger_entries e join usage_folds f on f.workspace_id = e.workspace_id and e.entry <= f.entry
    where e.kind = 'charge' and e.entry > 0 group by 1, 2, 3, 4),
  recorded as (
    select workspace_id, hour, key_id, member_id, sum(cost_nano) as cost from usage_hours group by 1, 2, 3, 4)
  select coalesce(r.workspace_id, c.workspace_id) as workspace_id,
    format('usage of hour %s, key %s, member %s', to_char(coalesce(r.hour, c.hour) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00"Z"'),
      coalesce(r.key_id, c.key_id), coalesce(r.member_id, c.member_id)) as what,
    coalesce(r.cost, 0)::text as recorded, coalesce(c.cost, 0)::text as computed
  from recorded r full join counted c using (workspace_id, hour, key_id, member_id)
  where coalesce(r.cost, 0) <> coalesce(c.cost, 0) limit $1`;

/** Daily sums of each value of each dimension, for all members and for each, against the hourly sums: cost and calls. */
const daysSql = `
  with hours as (
    select workspace_id, (hour at time zone 'UTC')::date as day, member_id, model, key_id, provider, protocol, status, error_code,
      sum(cost_nano) as cost, sum(requests) as requests
    from usage_hours group by 1, 2, 3, 4, 5, 6, 7, 8, 9),
  computed as (
    select d.dimension, d.value, m.of_member, h.workspace_id, h.day, case when m.of_member then h.member_id else '' end as member_id,
      sum(h.cost) as cost, sum(h.requests) as requests
    from hours h cross join (values (false), (true)) m (of_member)
    cross join lateral (values ('total', ''), ('model', h.model), ('key', h.key_id), ('provider', h.provider),
      ('protocol', h.protocol), ('status', h.status), ('error_code', h.error_code)) d (dimension, value)
    group by 1, 2, 3, 4, 5, 6),
  compared as (
    select workspace_id, day, dimension, value, of_member, member_id, r.cost_nano as r_cost, c.cost as c_cost,
      r.requests as r_requests, c.requests as c_requests
    from usage_days r full join computed c using (dimension, value, of_member, workspace_id, day, member_id))
  select b.workspace_id, format('usage of %s by %s%s%s, %s', b.day, b.dimension, case when b.value <> '' then ' ' || b.value else '' end,
      case when b.of_member then ' of member ' || b.member_id else '' end, x.name) as what,
    coalesce(x.recorded, 0)::text as recorded, coalesce(x.computed, 0)::text as computed
  from compared b cross join lateral (values ('cost', b.r_cost, b.c_cost), ('requests', b.r_requests, b.c_requests)) x (name, recorded, computed)
  where coalesce(x.recorded, 0) <> coalesce(x.computed, 0) limit $1`;

/** Tag sums, cost only: each value over all members against its members, and the values of a name against the day's total. */
const tagsSql = `
  with by_value as (
    select workspace_id, name, day, value, sum(cost_nano) filter (where not of_member) as recorded,
      sum(cost_nano) filter (where of_member) as computed
    from usage_tags group by 1, 2, 3, 4),
  by_name as (
    select t.workspace_id, t.name, t.day, t.of_member, t.member_id, sum(t.cost_nano) as recorded
    from usage_tags t group by 1, 2, 3, 4, 5),
  beyond as (
    select n.*, coalesce(d.cost_nano, 0) as computed from by_name n
    left join usage_days d on d.workspace_id = n.workspace_id and d.dimension = 'total' and d.of_member = n.of_member
      and d.member_id = n.member_id and d.day = n.day and d.value = ''
    where n.recorded < 0 or n.recorded > coalesce(d.cost_nano, 0))
  select workspace_id, format('usage of %s by tag %s, value %s', day, name, value) as what, coalesce(recorded, 0)::text as recorded,
    coalesce(computed, 0)::text as computed
  from by_value where coalesce(recorded, 0) <> coalesce(computed, 0)
  union all
  select workspace_id, format('usage of %s by tag %s%s, at most the total', day, name,
      case when of_member then ' of member ' || member_id else '' end), recorded::text, computed::text
  from beyond limit $1`;

/** Returns at most `most` differences in the usage sums visible to the transaction. */
export async function usageDifferencesIn(tx: Queryable, most: number): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const sql of [hoursSql, daysSql, tagsSql]) {
    const left = most - found.length;
    if (left <= 0) break;
    const rows = await tx.query<Row>(sql, [left]);
    found.push(
      ...rows.map(({ workspace_id, what, recorded, computed }) => ({
        workspaceId: workspace_id,
        what,
        recordedNano: BigInt(recorded),
        computedNano: BigInt(computed),
      })),
    );
  }
  return found;
}
