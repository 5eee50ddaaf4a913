/** The part of a fold step that sums by tags: for each name on the operator's list, the calls of the step by their value of it. */
import { sumsOf, tagOf } from "./sums.ts";

/** The most values of a name per workspace and day; further values are summed as one. */
const valuesMax = 1_000;
const otherValue = "other";

/** The key of `usage_tags`. */
export const tagKey = ["workspace_id", "name", "of_member", "member_id", "day", "value"] as const;

/** The tables of a step; `grouped_tags` is added to `usage_tags`. `names` is an expression. */
export const groupedTagsSql = (names: string): string => `
  tagged as materialized (
    select * from (
      select c.*, n.name, ${tagOf("n.name")} as value, (c.hour at time zone 'UTC')::date as day
      from calls c cross join unnest(${names}::text[]) n (name) where c.said is not null) x
    where x.value <> ''),
  tag_values as (
    select x.*, row_number() over (partition by x.workspace_id, x.name, x.day order by x.value) as place
    from (select distinct workspace_id, name, day, value from tagged) x
    where not exists (select from usage_tags t where t.workspace_id = x.workspace_id and t.name = x.name and not t.of_member
      and t.member_id = '' and t.day = x.day and t.value = x.value)),
  tag_counts as (
    select x.workspace_id, x.name, x.day, (select count(*) from usage_tags t where t.workspace_id = x.workspace_id
      and t.name = x.name and not t.of_member and t.member_id = '' and t.day = x.day) as n
    from (select distinct workspace_id, name, day from tag_values) x),
  grouped_tags as materialized (
    select c.workspace_id, c.name, y.of_member, case when y.of_member then c.member_id else '' end as member_id, c.day,
      case when v.place + k.n > ${valuesMax} then '${otherValue}' else c.value end as value, ${sumsOf("c")}
    from tagged c
    left join tag_values v on v.workspace_id = c.workspace_id and v.name = c.name and v.day = c.day and v.value = c.value
    left join tag_counts k on k.workspace_id = c.workspace_id and k.name = c.name and k.day = c.day
    cross join (values (false), (true)) y (of_member)
    group by 1, 2, 3, 4, 5, 6)`;
