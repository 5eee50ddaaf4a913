/** The workspace of the pages: all, or one, as `ws` in the URL. */
import { Select, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { isolated } from "../base/isolated.ts";
import { searchableSelect } from "./use-searched.ts";
import { choicesMax, useWorkspaces } from "./workspaces.ts";

/** On phones the switch is in the menu; this line names the page's workspace. Empty for all workspaces, or if there is only one. */
export function WorkspaceLine() {
  const { ws } = useSearch({ from: "/shell" });
  const { rows } = useWorkspaces();
  if (ws === undefined || rows?.length === 1) return null;
  // Keeps its place while the names load.
  const name = rows?.find(({ id }) => id === ws)?.name;
  if (rows !== undefined && name === undefined) return null;
  return (
    <Text size="sm" className="muted cut" hiddenFrom="sm" mb={4} mih={20} title={name}>
      {name !== undefined && `Workspace: ${isolated(name)}`}
    </Text>
  );
}

export function WorkspaceSwitch() {
  const { ws } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const workspaces = useWorkspaces().rows ?? [];
  if (workspaces.length < 2) {
    return (
      <Text fw={500} className="cut" mih={20}>
        {workspaces[0]?.name ?? ""}
      </Text>
    );
  }
  return (
    <Select
      aria-label="Workspace"
      {...searchableSelect}
      limit={choicesMax}
      nothingFoundMessage="No such workspace"
      value={ws ?? ""}
      data={[
        { value: "", label: "All workspaces" },
        ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={(value) =>
        void navigate({ to: ".", search: (before) => ({ ...before, ws: value || undefined }) })
      }
    />
  );
}
