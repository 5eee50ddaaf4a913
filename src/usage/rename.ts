/** Renames a value of a tag in the sums; the totals stay the same. */
import type { Queryable } from "../storage/index.ts";
import { foldLock } from "./fold.ts";
import { tagKey } from "./fold-tags.ts";
import { sumColumns } from "./sums.ts";

interface Renaming {
  readonly workspaceId: string;
  readonly name: string;
  readonly value: string;
  readonly to: string;
  /** The most rows that one call renames; a dry run counts all. */
  readonly limit: number;
  /** True: count only, and change nothing. */
  readonly dryRun: boolean;
}

const ofValue = "workspace_id = $1 and name = $2 and value = $3";
const columns = [...tagKey.filter((name) => name !== "value"), ...sumColumns].join(", ");
const renameSql = `
  with gone as (delete from usage_tags where ctid = any(array(
    select ctid from usage_tags where ${ofValue} limit $5)) returning *),
  added as (
    insert into usage_tags as t (${columns}, value) select ${columns}, $4 from gone order by ${tagKey.slice(0, -1).join(", ")}
    on conflict (${tagKey.join(", ")}) do update set ${sumColumns.map((name) => `${name} = t.${name} + excluded.${name}`).join(", ")})
  select count(*)::integer as n from gone`;

/**
 * Renames rows of a workspace. Waits for a fold step in flight, which may have read the old value.
 * @returns how many
 */
export async function renameTagValue(tx: Queryable, renaming: Renaming): Promise<number> {
  const { workspaceId, name, value, to, limit, dryRun } = renaming;
  const params = [workspaceId, name, value];
  const [row] = dryRun
    ? await tx.query<{ n: number }>(
        `select count(*)::integer as n from usage_tags where ${ofValue}`,
        params,
      )
    : await locked(tx, () => tx.query<{ n: number }>(renameSql, [...params, to, limit]));
  return row!.n;
}

async function locked<T>(tx: Queryable, work: () => Promise<T>): Promise<T> {
  await tx.query("select pg_advisory_xact_lock($1)", [foldLock]);
  return work();
}
