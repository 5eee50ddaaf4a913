/** The workspace of a page about one: that of the URL, or the first in which the reader has the page's right. */
import { useSearch } from "@tanstack/react-router";
import { api } from "../api/client.ts";
import { mayAll } from "../base/rights.ts";
import { useWorkspaces, type Workspace } from "./workspaces.ts";

interface Chosen {
  /** Undefined while it loads, and if there is none. */
  readonly workspace: Workspace | undefined;
  /** There is none in which the reader has the right. */
  readonly isNone: boolean;
  /** It is one of several: the URL names none. */
  readonly isOneOfMany: boolean;
}

export function useWorkspace(action: string): Chosen {
  const { ws } = useSearch({ from: "/shell" });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { rows } = useWorkspaces();
  if (me === undefined || rows === undefined) {
    return { workspace: undefined, isNone: false, isOneOfMany: false };
  }
  const open = rows.filter(({ id }) => mayAll(me.rights, action, id));
  // The oldest of several: lists are newest first.
  const workspace = ws === undefined ? open.at(-1) : open.find(({ id }) => id === ws);
  const isOneOfMany = ws === undefined && open.length > 1;
  return { workspace, isNone: workspace === undefined, isOneOfMany };
}
