/** The reader's sessions, with buttons to end the others. */
import { Button, Group, Stack, Table, Text, Title } from "@mantine/core";
import { api, client, type Schemas } from "../../api/client.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SmallTable } from "../../ui/small-table.tsx";

type Session = Schemas["Sessions"]["data"][number];

function Row({ session }: { session: Session }) {
  const { id, current, ip, user_agent: program } = session;
  const opened = readTime(new Date(session.created_at)).slice(0, -7);
  const change = useChange({
    send: () => client.DELETE("/admin/v1/sessions/{id}", { params: { path: { id } } }),
    invalidates: invalidatedPaths.session,
    success: "The session has ended.",
    failure: "The session has not ended.",
  });
  return (
    <Table.Tr>
      <Table.Td title={session.created_at}>{opened}</Table.Td>
      <Table.Td className="mono">{ip ?? "unknown"}</Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{program ?? "unknown"}</Table.Td>
      <Table.Td>
        {current ? (
          <span className="ok">this session</span>
        ) : (
          <Button
            size="xs"
            variant="default"
            aria-label={`Sign out the session of ${opened}`}
            loading={change.isPending}
            onClick={() => change.run({})}
          >
            Sign out
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function SignOutOthers() {
  const change = useChange({
    send: () => client.DELETE("/admin/v1/sessions"),
    invalidates: invalidatedPaths.session,
    success: "You are signed out everywhere else.",
  });
  const ask = () =>
    confirm({
      title: "Sign out everywhere else",
      text: "All your other sessions end at once. Personal tokens keep working.",
      action: "Sign out others",
      run: () => change.runNow({}),
    });
  return (
    <Button variant="default" onClick={ask}>
      Sign out everywhere else
    </Button>
  );
}

export function Sessions() {
  const { data, error, refetch } = api.useQuery("get", "/admin/v1/sessions", {
    params: { query: { limit: "100" } },
  });
  const sessions = data?.data ?? [];
  return (
    <Stack gap="sm" w="100%" maw={720}>
      <Title order={2} size="h4">
        Sessions
      </Title>
      <Text className="muted">Where you are signed in.</Text>
      {error !== null && <RegionError what="sessions" error={error} retry={refetch} />}
      {sessions.length > 0 && (
        <SmallTable
          label="Sessions"
          minWidth={560}
          headers={["Signed in", "Address", "Browser", "State"]}
        >
          {sessions.map((session) => (
            <Row key={session.id} session={session} />
          ))}
        </SmallTable>
      )}
      {sessions.length > 1 && (
        <Group>
          <SignOutOthers />
        </Group>
      )}
    </Stack>
  );
}
