/** Callbacks of a workspace: the signing secret, how to verify a callback, and the deliveries. */
import { Stack } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { isolated } from "../../base/isolated.ts";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { useWorkspace } from "../../ui/workspace.ts";
import { useWorkspaces } from "../../ui/workspaces.ts";
import { statuses } from "./answers.ts";
import { Deliveries } from "./deliveries.tsx";
import { useSigning, type Workspace } from "./queries.ts";
import { SigningSecret } from "./secret.tsx";
import { Verify } from "./verify.tsx";

const route = getRouteApi("/shell/settings/callbacks");

function Parts({ workspace }: { workspace: Workspace }) {
  const { status } = route.useSearch();
  const { data, error, refetch } = useSigning(workspace.id);
  return (
    <Stack gap="xl">
      {error !== null && <RegionError what="signing secret" error={error} retry={refetch} />}
      {(data !== undefined || error === null) && (
        <SigningSecret workspace={workspace} signing={data} />
      )}
      <Verify />
      <Deliveries workspaceId={workspace.id} status={statuses.find((one) => one === status)} />
    </Stack>
  );
}

export function CallbacksPage() {
  const { workspace, isNone, isOneOfMany } = useWorkspace("signing_secret.read");
  const workspaces = useWorkspaces();
  return (
    <Settings
      title={workspace === undefined ? "Callbacks" : `Callbacks of ${isolated(workspace.name)}`}
      isClosed={isNone}
      isOneOfMany={isOneOfMany}
    >
      {workspace === undefined && <Loading of={[workspaces]} />}
      {workspace !== undefined && <Parts key={workspace.id} workspace={workspace} />}
    </Settings>
  );
}
