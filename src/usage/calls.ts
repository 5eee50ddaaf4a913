/**
 * What calls add to the sums, as SQL: the one definition that folding and reading share.
 * A call that was charged counts when it was charged, and costs what the ledger says; the log tells its model and the rest. One that
 * was not charged counts when it began. A charge without a log row counts as a call of no model, until the row comes.
 * The rows of the log are looked up all at once, and calls that are alike are read once (sums.ts).
 */
import { latePart } from "../base/ids.ts";
import type { LogIds } from "./log-bounds.ts";
import { alikeNames, alikeSql, logList, logNames, noAlikeList, readAlikeSql } from "./sums.ts";

/** The id of the log row of a charge: a call that outlived its hold was charged under its id and ':late' (docs/ledger.md). */
const logIdOf = (reference: string): string =>
  `case when ${reference} like '%${latePart}' then left(${reference}, -${latePart.length}) else ${reference} end`;

/** The number of the first charge of a log row, or null. */
export const firstChargeOf = (workspace: string, id: string): string =>
  `(select min(c.entry) from ledger_entries c where c.workspace_id = ${workspace}
      and c.reference in (${id}, ${id} || '${latePart}') and c.kind = 'charge')`;

const chargeNames = "workspace_id, entry, log_id, at, key_id, member_id, cost";

/** Charges of the ledger `e` as {@link callsSql} takes them. */
export const chargeColumns = `e.workspace_id, e.entry, ${logIdOf("e.reference")} as log_id, e.created_at as at,
  coalesce(e.key_id, '') as key_id, coalesce(e.member_id, '') as member_id, e.amount_nano as cost`;

/** The hour of a time: days in UTC are whole hours. */
const hourOf = (at: string): string =>
  `date_bin('1 hour', ${at}, timestamptz '2000-01-01 00:00:00Z')`;

export interface Asked {
  /** Of the table of calls. The tables before it begin with it, too. */
  readonly name: string;
  /** Charges, a table or query in parentheses of {@link chargeColumns}. */
  readonly charges: string;
  /** Log rows that cost nothing (workspace_id, log_id). */
  readonly free: string;
  /**
   * Charges that are in the sums without a log row, as `charges`: those that have one now move from "no model" into theirs. With
   * them, a call that is in the sums as free and was charged now is taken out. Absent where nothing was summed before.
   */
  readonly late?: string;
  readonly log: LogIds;
  /** Whether calls have what their callers said. */
  readonly tagged: boolean;
}

/** What calls must have in common to be one, beside what their log rows say. Charges that may need a correction stay alone. */
const ownKeys = "kind, workspace_id, hour, key_id, member_id, row, entry, log_id, at, began";
const whereAlone = (column: string): string =>
  `case when w.kind = 'late' or w.kind = 'charge' and coalesce(l.cost_nano, 0) = 0 then ${column} end`;

/**
 * What was asked for, added up with its rows of the log where it is alike. A full join, though no row of the log is without a call:
 * it is never made by comparing each with each. `row`: 'none', or 'free' or 'charged' as it says.
 */
const alikeTablesSql = ({ name, charges, free, late, log, tagged }: Asked): string => `
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

/** Charges that were without a log row and have one now. */
export const lateFound = (name: string): string =>
  `from ${name}_alike where kind = 'late' and row <> 'none'`;

/** Charges without a log row. */
export const withoutRow = (name: string): string =>
  `from ${name}_alike where kind = 'charge' and row = 'none'`;

/** Charges whose log row may be noted as one that costs nothing. */
export const mayBePending = (name: string): string =>
  `from ${name}_alike where kind = 'charge' and row <> 'charged'`;

/** Log rows that are in the sums as free and have a charge now: out again, the charge counts. */
const chargedAfterwards = (name: string): string => `
  from ${name}_alike o where o.kind = 'charge' and o.row = 'free'
    and not exists (select from usage_pending p where p.workspace_id = o.workspace_id and p.id = o.log_id offset 0)
    and o.entry = ${firstChargeOf("o.workspace_id", "o.log_id")}`;

/** Rows of the table of what is alike, as {@link readAlikeSql} takes them: as charged, or as free, then of whom the log says. */
const chargedRow = (sign: 1 | -1, log: string): string =>
  `select workspace_id, hour, false as is_free, ${sign} as sign, n, key_id, member_id, cost, ${log}`;
const freeRow = (sign: 1 | -1, hour: string, log: string): string =>
  `select workspace_id, ${hour}, true, ${sign}, n, null, null, 0, ${log}`;

/**
 * Tables of a statement; the last one, `name`, has the calls as rows of hours with the columns of the sums, to be added up. Of the
 * others, {@link lateFound}, {@link withoutRow} and {@link mayBePending} are read, too.
 */
export function callsSql(asked: Asked): string {
  const { name, tagged } = asked;
  const log = alikeNames(tagged);
  const rows = [
    `${chargedRow(1, log)} from ${name}_alike where kind = 'charge'`,
    `${freeRow(1, "hour", log)} from ${name}_alike where kind = 'free' and row <> 'none'`,
    ...(asked.late === undefined
      ? []
      : [
          `${chargedRow(-1, noAlikeList(tagged))} ${lateFound(name)}`,
          `${chargedRow(1, log)} ${lateFound(name)}`,
          `${freeRow(-1, hourOf("began"), log)} ${chargedAfterwards(name)}`,
        ]),
  ];
  return `${alikeTablesSql(asked)},
  ${name} as materialized (${readAlikeSql(rows.join("\n union all "), tagged)})`;
}
