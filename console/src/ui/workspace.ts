/** Which workspace a page is about that is about one: that of the address, or the first in which its reader may do what it is for. */
import { useSearch } from "@tanstack/react-router";
import { api } from "../api/client.ts";
import { mayAll } from "../base/rights.ts";
import { useWorkspaces, type Workspace } from "./workspaces.ts";

interface Chosen {
  /** Undefined while it is on its way, and where there is none. */
  readonly workspace: Workspace | undefined;
  /** There is none in which the reader may do that. */
  readonly isNone: boolean;
}

export function useWorkspace(action: string): Chosen {
  const { ws } = useSearch({ from: "/shell" });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { rows } = useWorkspaces();
  if (me === undefined || rows === undefined) return { workspace: undefined, isNone: false };
  const open = rows.filter(({ id }) => mayAll(me.rights, action, id));
  // Of several the oldest: lists are newest first.
  const workspace = ws === undefined ? open.at(-1) : open.find(({ id }) => id === ws);
  return { workspace, isNone: workspace === undefined };
}
