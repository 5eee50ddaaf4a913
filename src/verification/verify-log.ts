/**
 * The part of `tollgate verify` that compares the request log with the ledger: the cost in a row against the ledger entries of that
 * call. It does not check the other direction: retention drops rows, and a crash may lose the last ones. A row of cost 0 may have been
 * charged later, if the database's answer was lost; the usage sums include that charge.
 */
import type { Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";

interface Row {
  readonly workspace_id: string;
  readonly id: string;
  readonly recorded: bigint;
  readonly computed: string;
}

/** Looks entries up by their key, so that a log of any length is read in its own order without sorting. */
const logSql = `
  select r.workspace_id, r.id, r.cost_nano as recorded, e.amount::text as computed
  from requests r cross join lateral (
    select coalesce(sum(x.amount_nano), 0) as amount from ledger_entries x
    where x.workspace_id = r.workspace_id and x.reference in (r.id, r.id || ':late') and x.kind = 'charge') e
  where r.cost_nano <> 0 and r.cost_nano <> e.amount limit $1`;

/** Returns at most `most` log rows visible to the transaction whose cost differs from the charge. */
export async function logDifferencesIn(tx: Queryable, most: number): Promise<Difference[]> {
  if (most <= 0) return [];
  const rows = await tx.query<Row>(logSql, [most]);
  return rows.map(({ workspace_id, id, recorded, computed }) => ({
    workspaceId: workspace_id,
    what: `cost of ${id} in the request log`,
    recordedNano: recorded,
    computedNano: BigInt(computed),
  }));
}
