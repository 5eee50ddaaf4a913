/** The workspace of a page about a single one: that of the URL, or the only one there is. */
import { useWorkspaces, type Workspace } from "./workspaces.ts";

export interface OneWorkspace {
  /** Undefined until it is known, and if the reader must choose. */
  readonly id: string | undefined;
  /** All workspaces that the reader sees; undefined until they are known. */
  readonly choices: readonly Workspace[] | undefined;
}

export function useOneWorkspace(ws: string | undefined): OneWorkspace {
  const choices = useWorkspaces().rows;
  return { id: ws ?? (choices?.length === 1 ? choices[0]!.id : undefined), choices };
}
