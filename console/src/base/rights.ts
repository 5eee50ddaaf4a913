/** What the reader may do, as the server said in `GET /me`. There is no table of roles here. */

export interface Rights {
  readonly everywhere: readonly string[];
  readonly own: readonly string[];
  readonly workspaces: Readonly<
    Record<string, { readonly all: readonly string[]; readonly own: readonly string[] }>
  >;
}

/** Whether an action is allowed with everything of a workspace, or of any where none is named. */
function mayAll(rights: Rights, action: string, workspaceId?: string): boolean {
  if (rights.everywhere.includes(action)) return true;
  const places =
    workspaceId === undefined ? Object.values(rights.workspaces) : [rights.workspaces[workspaceId]];
  return places.some((place) => place?.all.includes(action));
}

/** Whether an action is allowed with what is the reader's own, at least. */
export function mayOwn(rights: Rights, action: string, workspaceId?: string): boolean {
  if (mayAll(rights, action, workspaceId) || rights.own.includes(action)) return true;
  const places =
    workspaceId === undefined ? Object.values(rights.workspaces) : [rights.workspaces[workspaceId]];
  return places.some((place) => place?.own.includes(action));
}
