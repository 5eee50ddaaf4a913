/** The members of a workspace with roles and caps; invites and removes members. */
import { Button, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { keepsShownData } from "../../api/errors.ts";
import { isolated } from "../../base/isolated.ts";
import { More } from "../../ui/more.tsx";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { useWorkspace } from "../../ui/workspace.ts";
import { useWorkspaces } from "../../ui/workspaces.ts";
import { Edit } from "./edit.tsx";
import { Invite } from "./invite.tsx";
import { Reset } from "./reset.tsx";
import { useMembers, type Member, type Workspace } from "./queries.ts";
import { Row, useRemoval } from "./row.tsx";

const debounceMs = 200;
/** With more members, a search field appears. */
const fewMembers = 8;

function Members({ workspace }: { workspace: Workspace }) {
  const [q, setQ] = useState("");
  const [wanted] = useDebouncedValue(q.trim(), debounceMs);
  const query = useMembers(workspace.id, wanted === "" ? undefined : wanted);
  const { data, error, refetch } = query;
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const [edited, setEdited] = useState<Member>();
  const [lost, setLost] = useState<Member>();
  const remove = useRemoval();
  const refusal = error !== null && <RegionError what="members" error={error} retry={refetch} />;
  if (!keepsShownData(error)) return refusal;
  const members = data?.pages.flatMap(({ data: page }) => page) ?? [];
  return (
    <>
      {refusal}
      {(wanted !== "" || q !== "" || members.length > fewMembers) && (
        <TextInput
          aria-label="Name or e-mail"
          placeholder="Name or e-mail"
          mb="lg"
          maw={320}
          maxLength={100}
          value={q}
          onChange={({ currentTarget }) => setQ(currentTarget.value)}
        />
      )}
      <Loading of={[{ data, error }]} />
      {data !== undefined && members.length === 0 && (
        <Text className="muted">
          {wanted === ""
            ? `${isolated(workspace.name)} has no members yet. Invite one.`
            : `No member of ${isolated(workspace.name)} has this in the name or e-mail.`}
        </Text>
      )}
      {members.length > 0 && (
        <SmallTable
          label={`Members of ${isolated(workspace.name)}`}
          minWidth={720}
          headers={["E-mail", "Role", "Status", "This month (USD)", "Actions"]}
          numbers={["This month (USD)", "Actions"]}
        >
          {members.map((member) => (
            <Row
              key={member.user_id}
              member={member}
              thresholds={workspace.alert_thresholds}
              edit={setEdited}
              reset={setLost}
              remove={(one) => void remove(one)}
              isReader={member.user_id === me?.user_id}
            />
          ))}
        </SmallTable>
      )}
      <More next={query} />
      {edited !== undefined && <Edit member={edited} close={() => setEdited(undefined)} />}
      {lost !== undefined && <Reset member={lost} close={() => setLost(undefined)} />}
    </>
  );
}

export function MembersPage() {
  const { workspace, isNone, isOneOfMany } = useWorkspace("member.create");
  const workspaces = useWorkspaces();
  // The workspace of the open invitation form. After Back to another workspace, no form stays open.
  const [inviting, setInviting] = useState<string>();
  return (
    <Settings
      title={workspace === undefined ? "Members" : `Members of ${isolated(workspace.name)}`}
      isClosed={isNone}
      isOneOfMany={isOneOfMany}
      aside={
        <Button disabled={workspace === undefined} onClick={() => setInviting(workspace?.id)}>
          Invite
        </Button>
      }
    >
      {workspace === undefined && <Loading of={[workspaces]} />}
      {workspace !== undefined && (
        <>
          <Members key={workspace.id} workspace={workspace} />
          <Invite
            workspaceId={workspace.id}
            opened={inviting === workspace.id}
            close={() => setInviting(undefined)}
          />
        </>
      )}
    </Settings>
  );
}
