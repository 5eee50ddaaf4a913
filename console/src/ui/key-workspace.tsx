/** The workspace of a reader's first key, and what is shown to readers who have none. */
import { api } from "../api/client.ts";
import { useWorkspaces } from "./workspaces.ts";

interface KeyWorkspace {
  /** Undefined until it is known, and if there is none. */
  readonly id: string | undefined;
  /** There is none: the reader is in no workspace, or may not see that of the URL. */
  readonly isNone: boolean;
}

/** The workspace of the URL if the reader sees it, else their own first one. */
export function useKeyWorkspace(ws: string | undefined): KeyWorkspace {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { rows, isCut } = useWorkspaces();
  if (rows === undefined) return { id: undefined, isNone: false };
  const isSeen = isCut || rows.some(({ id }) => id === ws);
  const first = me?.memberships[0]?.workspace_id ?? rows[0]?.id;
  const id = ws === undefined ? first : isSeen ? ws : undefined;
  return { id, isNone: id === undefined };
}

/** For readers without a workspace. If the URL names one that they may not see, the top of the page says so. */
export function NoWorkspace() {
  const { rows } = useWorkspaces();
  if (rows?.length !== 0) return null;
  return (
    <div className="panel">
      You are not a member of any workspace. Ask an administrator to invite you.
    </div>
  );
}
