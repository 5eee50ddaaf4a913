/**
 * Limits a list to the rows that a user may see, as a condition of its statement. The database must apply it, or pages would come out
 * half empty. src/admin/rights.ts decides who sees what. Requirements: VIS.
 */
import type { Queryable } from "../storage/index.ts";

export interface Visibility {
  /** True: nothing is hidden. */
  readonly everything: boolean;
  /** Workspaces where the user sees every row. */
  readonly workspaceIds: readonly string[];
  /** Workspaces where the user sees only their own rows. */
  readonly ownWorkspaceIds: readonly string[];
  readonly userId: string | null;
}

/** For trusted callers, such as the command line on the operator's machine. */
export const seesEverything: Visibility = {
  everything: true,
  workspaceIds: [],
  ownWorkspaceIds: [],
  userId: null,
};

/** The four parameters of {@link whereVisible}. */
export const visibilityParams = (visibility: Visibility): unknown[] => [
  visibility.everything,
  visibility.workspaceIds,
  visibility.ownWorkspaceIds,
  visibility.userId,
];

/** The condition; its parameters begin at number `from`. Columns are names in the statement, never input. */
export function whereVisible(
  from: number,
  columns: { readonly workspace: string; readonly owner: string },
): string {
  const { workspace, owner } = columns;
  return (
    `($${from}::boolean or ${workspace} = any($${from + 1}::text[]) or ` +
    `(${workspace} = any($${from + 2}::text[]) and ${owner} = $${from + 3}::text))`
  );
}

/**
 * The workspace of a key, if the reader sees something of it. All activity of the key is in that workspace alone, and keys are never
 * deleted. Undefined unless exactly one workspace matches.
 */
export async function workspaceOfKey(
  database: Queryable,
  keyId: string,
  { everything, workspaceIds, ownWorkspaceIds }: Visibility,
): Promise<string | undefined> {
  const rows = await database.query<{ id: string }>(
    `select k.workspace_id as id from api_keys k where k.id = $1
       and ($2::boolean or k.workspace_id = any($3::text[]) or k.workspace_id = any($4::text[])) limit 2`,
    [keyId, everything, workspaceIds, ownWorkspaceIds],
  );
  return rows.length === 1 ? rows[0]!.id : undefined;
}
