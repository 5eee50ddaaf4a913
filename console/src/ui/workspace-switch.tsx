/** Which workspace the pages are about: all, or one, as `ws` of the address. */
import { Select, Text } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { choosing } from "./use-searched.ts";
import { choicesMax, useWorkspaces } from "./workspaces.ts";

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
      {...choosing}
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
