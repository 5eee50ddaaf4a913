/** The reader's rights, from `GET /me`. The console has no table of roles. */

export interface Rights {
  readonly everywhere: readonly string[];
  readonly own: readonly string[];
  readonly workspaces: Readonly<
    Record<string, { readonly all: readonly string[]; readonly own: readonly string[] }>
  >;
}

/** True if an action is allowed on every object of a workspace, or of any workspace if none is named. */
export function mayAll(rights: Rights, action: string, workspaceId?: string): boolean {
  if (rights.everywhere.includes(action)) return true;
  const places =
    workspaceId === undefined ? Object.values(rights.workspaces) : [rights.workspaces[workspaceId]];
  return places.some((place) => place?.all.includes(action));
}

/** True if an action is allowed at least on the reader's own objects. */
export function mayOwn(rights: Rights, action: string, workspaceId?: string): boolean {
  if (mayAll(rights, action, workspaceId) || rights.own.includes(action)) return true;
  const places =
    workspaceId === undefined ? Object.values(rights.workspaces) : [rights.workspaces[workspaceId]];
  return places.some((place) => place?.own.includes(action));
}

/** The fields of an object that decide who may act on it. */
interface Owned {
  readonly workspace_id: string;
  readonly created_by: string | null;
}

/** True if an action is allowed on one object: the reader's own, or any in its workspace. */
export function mayWith(
  me: { readonly user_id: string | null; readonly rights: Rights },
  action: string,
  { workspace_id: workspaceId, created_by: owner }: Owned,
): boolean {
  const isOwn = owner !== null && owner === me.user_id;
  return isOwn ? mayOwn(me.rights, action, workspaceId) : mayAll(me.rights, action, workspaceId);
}
