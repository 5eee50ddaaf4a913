/** A value of a tag under another name in the sums: what is added up stays the same. */
import type { Queryable } from "../storage/index.ts";
import { foldLock } from "./fold.ts";
import { tagKey } from "./fold-tags.ts";
import { sumColumns } from "./sums.ts";

interface Renaming {
  readonly workspaceId: string;
  readonly name: string;
  readonly value: string;
  readonly to: string;
  /** Rows at most, all that there are being counted. */
  readonly limit: number;
  /** Counts, and changes nothing. */
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
 * Renames rows of a workspace. It waits for the step of folding that is under way, which may still have read the old value.
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
