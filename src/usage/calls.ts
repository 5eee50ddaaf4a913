/**
 * The additions of calls to the sums, as SQL: the one definition that folding and reading share.
 * A charged call counts at the time of its charge, with the ledger's cost; the log has its model and the rest. A call without a charge
 * counts when it began. A charge without a log row counts as a call of no model, until the row comes.
 * Log rows are looked up all at once, and similar calls are read once (sums.ts).
 */
import { latePart } from "../base/ids.ts";
import type { LogIds } from "./log-bounds.ts";
import { alikeNames, alikeSql, logList, logNames, noAlikeList, readAlikeSql } from "./sums.ts";

/** Returns the id of a charge's log row: a call that outlived its hold was charged under its id and ':late' (docs/ledger.md). */
const logIdOf = (reference: string): string =>
  `case when ${reference} like '%${latePart}' then left(${reference}, -${latePart.length}) else ${reference} end`;

/** Returns the number of the first charge of a log row, or null. */
export const firstChargeOf = (workspace: string, id: string): string =>
  `(select min(c.entry) from ledger_entries c where c.workspace_id = ${workspace}
      and c.reference in (${id}, ${id} || '${latePart}') and c.kind = 'charge')`;

const chargeNames = "workspace_id, entry, log_id, at, key_id, member_id, cost";

/** The columns of charges from the ledger `e`, as {@link callsSql} takes them. */
export const chargeColumns = `e.workspace_id, e.entry, ${logIdOf("e.reference")} as log_id, e.created_at as at,
  coalesce(e.key_id, '') as key_id, coalesce(e.member_id, '') as member_id, e.amount_nano as cost`;

/** Returns the hour of a time: days in UTC are whole hours. */
const hourOf = (at: string): string =>
  `date_bin('1 hour', ${at}, timestamptz '2000-01-01 00:00:00Z')`;

export interface CallsSource {
  /** The name of the table of calls. The names of the tables before it begin with it, too. */
  readonly name: string;
  /** Charges: a table, or a query in parentheses, with {@link chargeColumns}. */
  readonly charges: string;
  /** Log rows that cost nothing (workspace_id, log_id). */
  readonly free: string;
  /**
   * Charges, in the form of `charges`, that the sums have without a log row: those with a log row now move from "no model" to theirs. Also,
   * a call that the sums have as free and that has a charge now is taken out. Absent if nothing was summed before.
   */
  readonly late?: string;
  readonly log: LogIds;
  /** True if calls have their callers' tags. */
  readonly tagged: boolean;
}

/** Columns in which similar calls agree, besides those of their log rows. Charges that may need a correction stay single. */
const ownKeys = "kind, workspace_id, hour, key_id, member_id, row, entry, log_id, at, began";
const whereAlone = (column: string): string =>
  `case when w.kind = 'late' or w.kind = 'charge' and coalesce(l.cost_nano, 0) = 0 then ${column} end`;

/**
 * Joins the wanted charges and calls with their log rows, and adds up similar ones. A full join, though each log row has a call: the
 * database never runs it as a nested loop. `row`: 'none', or 'free' or 'charged' as the log row says.
 */
const alikeTablesSql = ({ name, charges, free, late, log, tagged }: CallsSource): string => `
  ${name}_wanted as materialized (
    select 'charge' as kind, ${chargeNames} from ${charges} e
    union all select 'free', f.workspace_id, null, f.log_id, null, null, null, 0 from ${free} f
    ${late === undefined ? "" : `union all select 'late', ${chargeNames} from ${late} u`}),
  ${name}_alike as materialized (${alikeSql(
    `select w.kind, w.workspace_id, ${hourOf("case when w.kind = 'free' then l.began else w.at end")} as hour, w.key_id, w.member_id, w.cost,
        case when l.cost_nano is null then 'none' when l.cost_nano = 0 then 'free' else 'charged' end as row,
        ${["w.entry", "w.log_id", "w.at", "l.began"].map((column) => `${whereAlone(column)} as ${column.slice(2)}`).join(", ")},
        ${logNames(tagged)}
      from ${name}_wanted w full join (
        select x.workspace_id as log_workspace, y.* from (
          select workspace_id, array_agg(log_id order by log_id) as ids from ${name}_wanted group by workspace_id) x
        cross join lateral (
          select r.id as found, r.created_at as began, r.cost_nano, ${logList(tagged)}
          from requests r where r.workspace_id = x.workspace_id and r.id = any(x.ids) and ${log("r.id")} offset 0) y
      ) l on l.log_workspace = w.workspace_id and l.found = w.log_id`,
    ownKeys,
    tagged,
  )})`;

/** Charges that had no log row and have one now. */
export const lateChargesSql = (name: string): string =>
  `from ${name}_alike where kind = 'late' and row <> 'none'`;

/** Charges without a log row. */
export const chargesWithoutRowSql = (name: string): string =>
  `from ${name}_alike where kind = 'charge' and row = 'none'`;

/** Charges whose log row may be noted as free. */
export const maybeFreeChargesSql = (name: string): string =>
  `from ${name}_alike where kind = 'charge' and row <> 'charged'`;

/** Log rows that the sums have as free and that have a charge now: they are taken out, and the charge counts. */
const chargedAfterwards = (name: string): string => `
  from ${name}_alike o where o.kind = 'charge' and o.row = 'free'
    and not exists (select from usage_pending p where p.workspace_id = o.workspace_id and p.id = o.log_id offset 0)
    and o.entry = ${firstChargeOf("o.workspace_id", "o.log_id")}`;

/** Rows of the table of similar calls, as {@link readAlikeSql} takes them: as charged, or as free, with the key that the log names. */
const chargedRow = (sign: 1 | -1, log: string): string =>
  `select workspace_id, hour, false as is_free, ${sign} as sign, n, key_id, member_id, cost, ${log}`;
const freeRow = (sign: 1 | -1, hour: string, log: string): string =>
  `select workspace_id, ${hour}, true, ${sign}, n, null, null, 0, ${log}`;

/**
 * Returns the tables of a statement. The last one, `name`, has the calls as rows of hours with the columns of the sums, to be added up.
 * Statements also read {@link lateChargesSql}, {@link chargesWithoutRowSql} and {@link maybeFreeChargesSql} of the others.
 */
export function callsSql(source: CallsSource): string {
  const { name, tagged } = source;
  const log = alikeNames(tagged);
  const rows = [
    `${chargedRow(1, log)} from ${name}_alike where kind = 'charge'`,
    `${freeRow(1, "hour", log)} from ${name}_alike where kind = 'free' and row <> 'none'`,
    ...(source.late === undefined
      ? []
      : [
          `${chargedRow(-1, noAlikeList(tagged))} ${lateChargesSql(name)}`,
          `${chargedRow(1, log)} ${lateChargesSql(name)}`,
          `${freeRow(-1, hourOf("began"), log)} ${chargedAfterwards(name)}`,
        ]),
  ];
  return `${alikeTablesSql(source)},
  ${name} as materialized (${readAlikeSql(rows.join("\n union all "), tagged)})`;
}
