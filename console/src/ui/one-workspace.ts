/** The workspace that a page about one of them is about: the one of the address, or the only one there is. */
import { useWorkspaces, type Workspace } from "./workspaces.ts";

export interface OneWorkspace {
  /** Undefined until it is known, and where the reader must choose. */
  readonly id: string | undefined;
  /** All that the reader sees; undefined until they are known. */
  readonly choices: readonly Workspace[] | undefined;
}

export function useOneWorkspace(ws: string | undefined): OneWorkspace {
  const choices = useWorkspaces().rows;
  return { id: ws ?? (choices?.length === 1 ? choices[0]!.id : undefined), choices };
}
