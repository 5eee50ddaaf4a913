/** The last callbacks of a workspace, each with its tries; trying an address. */
import { Button, Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { client } from "../../api/client.ts";
import { refresh, touched } from "../../api/keys.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { say } from "../../ui/undo.tsx";
import { useDeliveries, type Delivery } from "./queries.ts";

/** What came of the tries, such as "503, 200". */
const triesOf = ({ attempts }: Delivery): string =>
  attempts.length === 0
    ? "-"
    : attempts.map(({ http_status: status, error }) => status ?? error ?? "?").join(", ");

function Row({ delivery }: { delivery: Delivery }) {
  const queries = useQueryClient();
  const { id, type, url, status } = delivery;
  const redeliver = () =>
    confirm({
      title: "Send again",
      text: `The same event goes to ${url} once more, also if it was delivered.`,
      action: "Send again",
      async run() {
        const params = { path: { id } };
        await client.POST("/admin/v1/webhook_deliveries/{id}/redeliver", { params, body: {} });
        await refresh(queries, touched.delivery);
        say("It is sent again.");
      },
    });
  return (
    <Table.Tr>
      <Table.Td title={delivery.created_at}>{readTime(new Date(delivery.created_at))}</Table.Td>
      <Table.Td>{type}</Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{url}</Table.Td>
      <Table.Td className={status === "failed" ? "bad" : status === "delivered" ? "ok" : "muted"}>
        {status}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{triesOf(delivery)}</Table.Td>
      <Table.Td ta="right">
        <Button
          size="xs"
          variant="default"
          aria-label={`Send again: ${id}`}
          disabled={status === "pending"}
          onClick={redeliver}
        >
          Send again
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}

function Test({ workspaceId }: { workspaceId: string }) {
  const [url, setUrl] = useState("");
  const change = useChange({
    send: async (body: { url: string }) => {
      const params = { path: { id: workspaceId } };
      return (await client.POST("/admin/v1/workspaces/{id}/webhook_test", { params, body })).data!;
    },
    touches: touched.delivery,
    said: "A test event is on its way: what comes of it is in the list.",
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run({ url });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="sm">
        <TextInput
          label="Try an address"
          placeholder="https://example.com/hook"
          required
          style={{ flexGrow: 1 }}
          value={url}
          error={change.at("url") ?? change.beside("url")?.message}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={change.isPending}>
          Send a test
        </Button>
      </Group>
    </form>
  );
}

const headers = ["Time", "Event", "Address", "Status", "Tries", "Action"];

export function Deliveries({ workspaceId }: { workspaceId: string }) {
  const { data, error, refetch } = useDeliveries(workspaceId);
  const deliveries = data?.data ?? [];
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        Deliveries
      </Title>
      <Test workspaceId={workspaceId} />
      {error !== null && <RegionError what="deliveries" error={error} retry={refetch} />}
      {data !== undefined && deliveries.length === 0 && (
        <Text className="muted">
          No callback was sent yet. A task with a webhook_url sends one.
        </Text>
      )}
      {deliveries.length > 0 && (
        <SmallTable label="Deliveries, newest first" minWidth={760} headers={headers}>
          {deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} />
          ))}
        </SmallTable>
      )}
    </Stack>
  );
}
