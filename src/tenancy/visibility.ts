/**
 * Which rows of a list somebody may see, as a condition of its statement: a list must be cut by the database, or a page
 * of it would come out half empty. Who sees what is decided elsewhere (src/admin/rights.ts). Requirements: VIS.
 */
import type { Queryable } from "../storage/index.ts";

export interface Visibility {
  /** Nothing is hidden. */
  readonly everything: boolean;
  /** Workspaces whose every row is seen. */
  readonly workspaceIds: readonly string[];
  /** Workspaces of which only the user's own rows are seen. */
  readonly ownWorkspaceIds: readonly string[];
  readonly userId: string | null;
}

/** For callers who are trusted with everything, such as the command line on the operator's machine. */
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

/** The condition, whose parameters begin at number `from`. Columns are names in the statement, never input. */
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
 * The workspace of a key, where somebody sees something of it: what the key did is there alone, and keys are never deleted. Undefined
 * where it is not known to be the only one.
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
