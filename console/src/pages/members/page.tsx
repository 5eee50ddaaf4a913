/** Who is in a workspace, in which role, within which caps; inviting and removing. */
import { Button, Group, Table, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { refresh, touched } from "../../api/keys.ts";
import { readTime } from "../../base/time.ts";
import { CapBar } from "../../ui/cap-bar.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { offerUndo, say } from "../../ui/undo.tsx";
import { useWorkspace } from "../../ui/workspace.ts";
import { Edit } from "./edit.tsx";
import { Invite } from "./invite.tsx";
import { Reset } from "./reset.tsx";
import {
  keysOf,
  removeMember,
  restoreMember,
  useMembers,
  type Member,
  type Workspace,
} from "./queries.ts";

/** Asks before a member is removed, with the keys that stop. */
function useRemoval() {
  const queries = useQueryClient();
  return async (member: Member) => {
    const isInvited = member.status === "invited";
    const keys = isInvited ? [] : await keysOf(member);
    const stops =
      keys.length === 0 ? (
        <Text>No key of theirs is active here.</Text>
      ) : (
        <>
          <Text>These keys stop at once. An admin may enable them again:</Text>
          <ul>
            {keys.map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </>
      );
    confirm({
      title: isInvited ? "Take the invitation back" : "Remove member",
      text: isInvited ? `The link that ${member.email} has works no more.` : stops,
      action: isInvited ? "Take back" : `Remove ${member.email}`,
      danger: true,
      async run() {
        await removeMember(member);
        await refresh(queries, touched.member);
        if (isInvited) say("The invitation is taken back.");
        else {
          offerUndo(`${member.email} is removed.`, async () => {
            await restoreMember(member);
            await refresh(queries, touched.member);
          });
        }
      },
    });
  };
}

function State({ member: { status, invitation } }: { member: Member }) {
  if (status === "active") return <span className="ok">active</span>;
  const until = invitation && readTime(new Date(invitation.expires_at)).slice(0, -7);
  return <span className="muted">invited until {until}</span>;
}

interface RowProps {
  readonly member: Member;
  /** At which the workspace is alerted. */
  readonly thresholds: readonly number[];
  readonly edit: (member: Member) => void;
  readonly reset: (member: Member) => void;
  /** The reader themselves, who changes their own password elsewhere. */
  readonly isReader: boolean;
}

function Row({ member, thresholds, edit, reset, isReader }: RowProps) {
  const remove = useRemoval();
  const { email, role, status } = member;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{email}</Table.Td>
      <Table.Td>{role}</Table.Td>
      <Table.Td>
        <State member={member} />
      </Table.Td>
      <Table.Td>
        <CapBar
          label={`Spend of ${email} this month`}
          short
          thresholds={thresholds}
          cap={member.spend_caps.monthly}
          spent={member.spend.monthly}
          remaining={member.remaining.monthly}
          resetsAt={member.resets_at.monthly}
        />
      </Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap" justify="flex-end">
          <Button
            size="xs"
            variant="default"
            aria-label={`Change ${email}`}
            onClick={() => edit(member)}
          >
            Change
          </Button>
          {status === "active" && !isReader && (
            <Button
              size="xs"
              variant="default"
              aria-label={`Reset the password of ${email}`}
              onClick={() => reset(member)}
            >
              Reset
            </Button>
          )}
          <Button
            size="xs"
            variant="outline"
            color="var(--bad)"
            aria-label={status === "active" ? `Remove ${email}` : `Take back: ${email}`}
            onClick={() => void remove(member)}
          >
            {status === "active" ? "Remove" : "Take back"}
          </Button>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function Members({ workspace }: { workspace: Workspace }) {
  const { data, error, refetch } = useMembers(workspace.id);
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const [edited, setEdited] = useState<Member>();
  const [lost, setLost] = useState<Member>();
  if (error !== null) return <RegionError what="members" error={error} retry={refetch} />;
  const members = data?.data ?? [];
  return (
    <>
      {data !== undefined && members.length === 0 && (
        <Text className="muted">Nobody is a member of {workspace.name} yet: invite somebody.</Text>
      )}
      {members.length > 0 && (
        <SmallTable
          label={`Members of ${workspace.name}`}
          minWidth={720}
          headers={["E-mail", "Role", "Status", "This month (USD)", "Actions"]}
        >
          {members.map((member) => (
            <Row
              key={member.user_id}
              member={member}
              thresholds={workspace.alert_thresholds}
              edit={setEdited}
              reset={setLost}
              isReader={member.user_id === me?.user_id}
            />
          ))}
        </SmallTable>
      )}
      {edited !== undefined && <Edit member={edited} close={() => setEdited(undefined)} />}
      {lost !== undefined && <Reset member={lost} close={() => setLost(undefined)} />}
    </>
  );
}

export function MembersPage() {
  const { workspace, isNone } = useWorkspace("member.create");
  const [isInviting, setInviting] = useState(false);
  return (
    <Settings
      title={workspace === undefined ? "Members" : `Members of ${workspace.name}`}
      isClosed={isNone}
      aside={<Button onClick={() => setInviting(true)}>Invite</Button>}
    >
      {workspace !== undefined && (
        <>
          <Members workspace={workspace} />
          <Invite workspaceId={workspace.id} opened={isInviting} close={() => setInviting(false)} />
        </>
      )}
    </Settings>
  );
}
