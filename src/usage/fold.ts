/**
 * Folding: adds new calls of the ledger and the log, beyond the mark, to the sums by hour and by day, and moves the mark, in one
 * transaction. An interruption neither counts a call twice nor loses one. Only one process folds at a time.
 */
import type { Database, Queryable } from "../storage/index.ts";
import {
  callsSql,
  chargeColumns,
  firstChargeOf,
  lateChargesSql,
  maybeFreeChargesSql,
  chargesWithoutRowSql,
} from "./calls.ts";
import { groupedTagsSql, tagKey } from "./fold-tags.ts";
import { idsFrom, timeOf, waitingLow } from "./log-bounds.ts";
import { dimensions, sumColumns, sumsOf } from "./sums.ts";

/**
 * The most entries, and free calls, of one step: some 40 ms of the database, a quarter of it for the plan. Steps of 20,000 take less time
 * in all. But if gateway and database share a core, calls stop meanwhile: with twice the calls that fit, a sixth fewer were served.
 */
const stepMax = 4_000;
/** Any number that nothing else in the database locks. */
export const foldLock = 7_409_318_200_433n;
/** After this time a log row does not come any more. */
const lateMax = "interval '1 day'";

/**
 * Not while rows of the old table cannot be read (storage/baseline/10_request_parts.sql): their calls would count without a model, or not
 * at all. The planner does not know how much a step reads, so it gets indexes and hashes, which are right for many rows and do for few.
 */
const lockSql = `select pg_try_advisory_xact_lock($1)
  and set_config('enable_seqscan', 'off', true) = 'off' and set_config('enable_sort', 'off', true) = 'off'
  and not exists (select from pg_class where oid = to_regclass('requests_before') and not relispartition) as mine`;

/**
 * The end of the step in each workspace with new entries, and the oldest call in it there. All workspaces have the same end: the number of
 * the first new entry plus the size of the step.
 */
const boundsSql = `
  with news as materialized (
    select a.workspace_id, coalesce(f.entry, 0) as low, x.entry as first
    from ledger_accounts a
    left join usage_folds f on f.workspace_id = a.workspace_id
    cross join lateral (
      select e.entry from ledger_entries e where e.workspace_id = a.workspace_id and e.entry > 0 and e.entry > coalesce(f.entry, 0)
      order by e.entry limit 1) x)
  select n.workspace_id, n.low, x.high, x.n::integer as n, x.since,
    exists (select from ledger_entries e where e.workspace_id = n.workspace_id and e.entry > 0
      and e.entry > coalesce(x.high, n.low)) as "goesOn"
  from news n cross join lateral (
    select max(e.entry) as high, count(*) as n, ${timeOf("e.reference")} filter (where e.kind = 'charge') as since
    from ledger_entries e where e.workspace_id = n.workspace_id and e.entry > 0 and e.entry >= n.first
      and e.entry < (select min(first) from news) + $1) x`;

interface Bound {
  readonly workspace_id: string;
  readonly low: bigint;
  /** Null if all entries are beyond this step. */
  readonly high: bigint | null;
  readonly n: number;
  /** In the form that ids have; null if nothing was charged. */
  readonly since: string | null;
  /** True if there is more than this step takes. */
  readonly goesOn: boolean;
}

/** The calls of a step: entries up to the bounds, waiting free calls, corrections of earlier steps. Reads log rows from $5 on. */
const tablesSql = (tagged: boolean): string => `
  bounds as materialized (select * from unnest($1::text[], $2::bigint[], $3::bigint[]) b (workspace_id, low, high)),
  waiting as materialized (
    select p.workspace_id, p.log_id, p.charge
    from (select y.workspace_id, y.id as log_id, ${firstChargeOf("y.workspace_id", "y.id")} as charge
      -- One that came since the bound of the log was found, and is older, is not read there: it waits for the next step.
      from (select * from usage_pending x where ${idsFrom("$5")("x.id")} limit $4) y offset 0) p
    left join bounds b on b.workspace_id = p.workspace_id
    left join usage_folds f on f.workspace_id = p.workspace_id
    -- One whose charge comes later waits for it: whether it was counted must be known then.
    where p.charge is null or p.charge <= coalesce(b.high, f.entry, 0)),
  ${callsSql({
    name: "calls",
    charges: `(select x.* from bounds b cross join lateral (
      select ${chargeColumns} from ledger_entries e where e.workspace_id = b.workspace_id and e.entry > 0
        and e.entry > b.low and e.entry <= b.high and e.kind = 'charge' offset 0) x)`,
    free: "(select * from waiting where charge is null)",
    late: "(select u.*, u.id as log_id, u.cost_nano as cost from usage_unattributed u)",
    log: idsFrom("$5"),
    tagged,
  })}`;

const sums = sumColumns.join(", ");
const grouped = `
  grouped as materialized (
    select ${dimensions.join(", ")}, hour, ${sumsOf("c")}
    from calls c group by ${dimensions.join(", ")}, hour
  ),
  grouped_days as materialized (
    select g.workspace_id, (g.hour at time zone 'UTC')::date as day, x.dimension, y.of_member,
      case when y.of_member then g.member_id else '' end as member_id, x.value, ${sumsOf("g")}
    from grouped g
    cross join lateral (values ('total', ''), ('model', g.model), ('key', g.key_id), ('provider', g.provider),
      ('protocol', g.protocol), ('status', g.status), ('error_code', g.error_code)) x (dimension, value)
    cross join (values (false), (true)) y (of_member)
    group by 1, 2, 3, 4, 5, 6
  )`;

/**
 * Adds the rows of `from` to `table`, whose key is `key`. A negative correction alone would break the constraints on insert; its row exists
 * already, so it is an update.
 */
function addSql(table: string, from: string, key: readonly string[]): string {
  const same = key.map((name) => `t.${name} = g.${name}`).join(" and ");
  const added = (of: string): string =>
    sumColumns.map((name) => `${name} = t.${name} + ${of}.${name}`).join(", ");
  const takes = `(least(${sumColumns.map((name) => `g.${name}`).join(", ")}) < 0 or greatest(g.errors, g.client_closed) > g.requests)`;
  return `
  ${table}_taken as (update ${table} t set ${added("g")} from ${from} g where ${same} and ${takes}),
  ${table}_added as (
    insert into ${table} as t (${key.join(", ")}, ${sums})
    select ${key.join(", ")}, ${sums} from ${from} g where not (${takes}) order by ${key.join(", ")}
    on conflict (${key.join(", ")}) do update set ${added("excluded")})`;
}

/** With `tags`, also sums by the tag names in $6. */
const stepSql = (tags: boolean): string => `
  with ${tablesSql(tags)},
  ${grouped},
  ${addSql("usage_hours", "grouped", ["key_id", "hour", ...dimensions.filter((name) => name !== "key_id")])},
  ${addSql("usage_days", "grouped_days", ["workspace_id", "dimension", "of_member", "member_id", "day", "value"])},
  ${tags ? `${groupedTagsSql("$6")}, ${addSql("usage_tags", "grouped_tags", tagKey)},` : ""}
  taken as (
    delete from usage_pending p using (
      select workspace_id, log_id from waiting union select workspace_id, log_id ${maybeFreeChargesSql("calls")}) x
    where p.workspace_id = x.workspace_id and p.id = x.log_id returning 1),
  settled as (
    delete from usage_unattributed u using (
      select workspace_id, entry ${lateChargesSql("calls")}
      union select workspace_id, entry from usage_unattributed where at < now() - ${lateMax}) x
    where u.workspace_id = x.workspace_id and u.entry = x.entry returning 1),
  unattributed as (
    insert into usage_unattributed (workspace_id, entry, id, at, key_id, member_id, cost_nano)
    select workspace_id, entry, log_id, at, key_id, member_id, cost ${chargesWithoutRowSql("calls")} and at >= now() - ${lateMax}),
  marked as (
    insert into usage_folds (workspace_id, entry) select workspace_id, high from bounds
    on conflict (workspace_id) do update set entry = excluded.entry)
  select (select count(*) from taken)::integer as free, (select count(*) from settled)::integer as settled`;

const steps = { plain: stepSql(false), tagged: stepSql(true) };

interface Step {
  readonly done: number;
  /** True if it took everything that there was at its start. */
  readonly isLast: boolean;
}

/** Runs one step: at most `most` entries and as many free calls. `tags`: tag names that are summed by too. */
async function stepIn(tx: Queryable, most: number, tags: readonly string[]): Promise<Step> {
  const [lock] = await tx.query<{ mine: boolean }>(lockSql, [foldLock]);
  if (lock?.mine !== true) return { done: 0, isLast: true };
  const news = await tx.query<Bound>(boundsSql, [most]);
  const bounds = news.filter(({ high }) => high !== null);
  if (bounds.length === 0) {
    const [left] = await tx.query<{ some: boolean }>(
      "select exists (select from usage_pending) or exists (select from usage_unattributed) as some",
      [],
    );
    if (left?.some !== true) return { done: 0, isLast: true };
  }
  const [done] = await tx.query<{ free: number; settled: number }>(
    tags.length > 0 ? steps.tagged : steps.plain,
    [
      bounds.map(({ workspace_id }) => workspace_id),
      bounds.map(({ low }) => low),
      bounds.map(({ high }) => high),
      most,
      await waitingLow(tx, bounds),
      ...(tags.length > 0 ? [tags] : []),
    ],
  );
  const { free = 0, settled = 0 } = done ?? {};
  return {
    done: bounds.reduce((sum, { n }) => sum + n, 0) + free + settled,
    isLast: free < most && !news.some(({ goesOn }) => goesOn),
  };
}

export interface FoldOptions {
  /** Asked before each step: false ends the fold. */
  readonly goesOn?: () => boolean | Promise<boolean>;
  /** The tags that usage is summed by; none if absent. */
  readonly tags?: readonly string[];
  /** The most entries of a step, and the most free calls. */
  readonly most?: number;
}

/**
 * Folds everything, in steps of at most `most`, until `goesOn`, asked before each step, returns false. Leaves calls that come meanwhile:
 * under load there would be endless small steps, each with a plan of its own.
 * @returns how much it did; 0 where nothing is left, or another process folds
 */
export async function foldUsage(
  database: Database,
  { goesOn = () => true, tags = [], most = stepMax }: FoldOptions = {},
): Promise<number> {
  let sum = 0;
  while (await goesOn()) {
    const { done, isLast } = await database.transaction((tx) => stepIn(tx, most, tags));
    sum += done;
    if (isLast) break;
  }
  return sum;
}
