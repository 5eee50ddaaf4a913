/** The client addresses of a key in the last 30 days, the latest first. */
import { Stack, Table, Text, Title } from "@mantine/core";
import { api } from "../../api/client.ts";
import { readCount } from "../../base/numbers.ts";
import { readAgo, readTime } from "../../base/time.ts";
import { RegionError } from "../../ui/region-error.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import type { Key } from "./queries.ts";

const headers = ["Address", "Program", "First", "Last", "Requests"];

export function Clients({ apiKey: { id } }: { apiKey: Key }) {
  const { data, error, refetch } = api.useQuery("get", "/admin/v1/keys/{id}/clients", {
    params: { path: { id } },
  });
  const clients = data?.data ?? [];
  return (
    <Stack gap="sm" mt="xl">
      <Title order={2} size="h4">
        Used from
      </Title>
      {error !== null && <RegionError what="addresses" error={error} retry={refetch} />}
      {data !== undefined && clients.length === 0 && (
        <Text className="muted">Not used in the last 30 days.</Text>
      )}
      {clients.length > 0 && (
        <SmallTable label="Used from" minWidth={640} headers={headers} numbers={["Requests"]}>
          {clients.map((client) => (
            <Table.Tr key={client.ip}>
              <Table.Td className="mono">{client.ip}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {client.user_agent ?? <span className="muted">unknown</span>}
              </Table.Td>
              <Table.Td title={client.first_seen_at}>
                {readTime(new Date(client.first_seen_at)).slice(0, -7)}
              </Table.Td>
              <Table.Td title={client.last_seen_at}>
                {readAgo(new Date(client.last_seen_at))}
              </Table.Td>
              <Table.Td ta="right">{readCount(client.requests)}</Table.Td>
            </Table.Tr>
          ))}
        </SmallTable>
      )}
    </Stack>
  );
}
