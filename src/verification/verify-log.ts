/**
 * The part of `tollgate verify` that compares the request log with the ledger: what a row says that its call cost, against the entries of
 * that call. One way only: retention drops rows, and a crash may lose the last ones. A row of cost 0 may have been charged afterwards,
 * where the answer of the database was lost; the sums of usage know of that.
 */
import type { Queryable } from "../storage/index.ts";
import type { Difference } from "./difference.ts";

interface Row {
  readonly workspace_id: string;
  readonly id: string;
  readonly recorded: bigint;
  readonly computed: string;
}

/** By the key of entries, so that a log of any length is read in its own order and nothing is sorted. */
const logSql = `
  select r.workspace_id, r.id, r.cost_nano as recorded, e.amount::text as computed
  from requests r cross join lateral (
    select coalesce(sum(x.amount_nano), 0) as amount from ledger_entries x
    where x.workspace_id = r.workspace_id and x.reference in (r.id, r.id || ':late') and x.kind = 'charge') e
  where r.cost_nano <> 0 and r.cost_nano <> e.amount limit $1`;

/** Every row of the log that a transaction sees whose cost is not what was charged, at most `most`. */
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
