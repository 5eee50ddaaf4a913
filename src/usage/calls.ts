/**
 * What calls add to the sums, as SQL: the one definition that folding and reading share.
 * A call that was charged counts when it was charged, and costs what the ledger says; the log tells its model and the rest. One that
 * was not charged counts when it began. A charge without a log row counts as a call of no model, until the row comes.
 */
import type { LogIds } from "./log-bounds.ts";
import { toldList, toldOf, untoldList } from "./sums.ts";

const latePart = ":late";

/** The id of the log row of a charge: a call that outlived its hold was charged under its id and ':late' (docs/ledger.md). */
const logIdOf = (reference: string): string =>
  `case when ${reference} like '%${latePart}' then left(${reference}, -${latePart.length}) else ${reference} end`;

/** The number of the first charge of a log row, or null. */
export const firstChargeOf = (workspace: string, id: string): string =>
  `(select min(c.entry) from ledger_entries c where c.workspace_id = ${workspace}
      and c.reference in (${id}, ${id} || '${latePart}') and c.kind = 'charge')`;

/** Charges of the ledger `e` as {@link callsSql} takes them. */
export const chargeColumns = `e.workspace_id, e.entry, ${logIdOf("e.reference")} as log_id, e.created_at as at,
  coalesce(e.key_id, '') as key_id, coalesce(e.member_id, '') as member_id, e.amount_nano as cost`;

/** What a charge is, as a row of calls: with its log row `l`, or without. */
const chargeRow = (e: string, sign: number, told: string): string =>
  `select ${e}.workspace_id, ${e}.key_id, ${e}.member_id, ${e}.at, ${sign} as sign, ${e}.cost, ${told}`;

/** A log row as a call that cost nothing, of the key's owner. */
const freeRow = (sign: number): string =>
  `select l.workspace_id, coalesce(l.log_key, '') as key_id, coalesce(k.created_by, '') as member_id, l.created_at as at,
     ${sign} as sign, 0::bigint as cost, ${toldList()}`;

const freeOf = (table: string, log: LogIds): string =>
  `(select x.workspace_id, l.* from ${table} x cross join lateral ${toldOf("x.workspace_id", "x.log_id", log)} l) l
   left join api_keys k on k.workspace_id = l.workspace_id and k.id = l.log_key`;

/** Charges each with its log row, if there is one, and what that says it cost: the rows of `charges`, {@link chargeColumns}. */
export const chargedSql = (charges: string, log: LogIds): string =>
  `${chargeRow("e", 1, toldList())}, e.entry, e.log_id, l.log_id is null as missing, l.cost_nano as logged_nano
   from ${charges} e left join lateral ${toldOf("e.workspace_id", "e.log_id", log)} l on true`;

/** Log rows that cost nothing: those that `free` (workspace_id, log_id) names. */
export const freeSql = (free: string, log: LogIds): string =>
  `${freeRow(1)} from ${freeOf(free, log)}`;

/** Charges of the sums that have their log row now: out of "no model", into theirs. `missing` is of {@link missingSql}. */
export const foundSql = (missing: string, log: LogIds): string => `
  ${chargeRow("e", -1, untoldList())} from ${missing} e
  union all
  ${chargeRow("e", 1, toldList())} from ${missing} e cross join lateral ${toldOf("e.workspace_id", "e.log_id", log)} l`;

/** Charges that were without a log row and have one now, where `where` holds for `u`. */
export const missingSql = (where: string, log: LogIds): string => `
  select u.workspace_id, u.entry, u.id as log_id, u.at, u.key_id, u.member_id, u.cost_nano as cost
  from usage_unattributed u
  where ${where} and exists (select from requests r where r.workspace_id = u.workspace_id and r.id = u.id
      and ${log("r.id")} offset 0)`;

/** Log rows that are in the sums as free and have a charge now: out again, the charge counts. `charged` is of {@link chargedSql}. */
export const chargedAfterwardsSql = (charged: string, log: LogIds): string => `
  ${freeRow(-1)} from ${freeOf(
    `(
    select e.workspace_id, e.log_id from ${charged} e
    where e.logged_nano = 0
      and not exists (select from usage_pending p where p.workspace_id = e.workspace_id and p.id = e.log_id offset 0)
      and e.entry = ${firstChargeOf("e.workspace_id", "e.log_id")})`,
    log,
  )}`;
