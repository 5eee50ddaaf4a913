/** What the reader may do, as the server said in `GET /me`. There is no table of roles here. */

export interface Rights {
  readonly everywhere: readonly string[];
  readonly own: readonly string[];
  readonly workspaces: Readonly<
    Record<string, { readonly all: readonly string[]; readonly own: readonly string[] }>
  >;
}

/** Whether an action is allowed with everything of a workspace, or of any where none is named. */
export function mayAll(rights: Rights, action: string, workspaceId?: string): boolean {
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

/** What of an object decides who may do something with it. */
interface Owned {
  readonly workspace_id: string;
  readonly created_by: string | null;
}

/** Whether an action is allowed with one object: its reader's own, or anybody's in that workspace. */
export function mayWith(
  me: { readonly user_id: string | null; readonly rights: Rights },
  action: string,
  { workspace_id: workspaceId, created_by: owner }: Owned,
): boolean {
  const isOwn = owner !== null && owner === me.user_id;
  return isOwn ? mayOwn(me.rights, action, workspaceId) : mayAll(me.rights, action, workspaceId);
}
