/** A workspace's latest callbacks with their attempts, and a form to test a URL. */
import { Button, Group, Select, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState, type FormEvent } from "react";
import { client } from "../../api/client.ts";
import { refetchPaths, invalidatedPaths } from "../../api/invalidation.ts";
import { readTime } from "../../base/time.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { More } from "../../ui/more.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { notify } from "../../ui/undo.tsx";
import { attemptResults, statuses, type Status } from "./answers.ts";
import { useDeliveries, type Delivery } from "./queries.ts";

/** The results of the attempts, and the time of the next one. */
function Tries({ delivery: { attempts, next_attempt_at: next } }: { delivery: Delivery }) {
  return (
    <>
      {attemptResults(attempts).map((answer, place) => (
        // oxlint-disable-next-line react/no-array-index-key -- the same answer may come again later
        <div key={place}>{answer}</div>
      ))}
      {next !== null && (
        <div className="muted" title={next}>
          next try at {readTime(new Date(next))}
        </div>
      )}
      {attempts.length === 0 && next === null && "-"}
    </>
  );
}

/** The event, linked to its task. */
const Event = ({ delivery: { type, task_id: task } }: { delivery: Delivery }) =>
  task === null ? (
    type
  ) : (
    <Link to="/tasks/$id" params={{ id: task }} search={({ ws }) => ({ ws })} title={task}>
      {type}
    </Link>
  );

function Row({ delivery }: { delivery: Delivery }) {
  const queries = useQueryClient();
  const { id, url, status } = delivery;
  const redeliver = () =>
    confirm({
      title: "Send again",
      text: `The same event is sent to ${url} now, even if it was delivered before. Its attempts start again.`,
      action: "Send again",
      async run() {
        const params = { path: { id } };
        await client.POST("/admin/v1/webhook_deliveries/{id}/redeliver", { params, body: {} });
        await refetchPaths(queries, invalidatedPaths.delivery);
        notify("The callback is sent again.");
      },
    });
  return (
    <Table.Tr>
      <Table.Td title={delivery.created_at}>{readTime(new Date(delivery.created_at))}</Table.Td>
      <Table.Td>
        <Event delivery={delivery} />
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>{url}</Table.Td>
      <Table.Td className={status === "failed" ? "bad" : status === "delivered" ? "ok" : "muted"}>
        {status}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>
        <Tries delivery={delivery} />
      </Table.Td>
      <Table.Td ta="right">
        <Button size="xs" variant="default" aria-label={`Send again: ${id}`} onClick={redeliver}>
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
    invalidates: invalidatedPaths.delivery,
    success: "The test event is sent. The list shows its result.",
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.run({ url });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" gap="sm">
        <TextInput
          label="Test an address"
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

interface DeliveriesProps {
  readonly workspaceId: string;
  readonly status: Status | undefined;
}

export function Deliveries({ workspaceId, status }: DeliveriesProps) {
  const navigate = useNavigate();
  const read = useDeliveries(workspaceId, status);
  const { data, error, refetch } = read;
  const deliveries = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Stack gap="md">
      <Title order={2} size="h4">
        Deliveries
      </Title>
      <Test workspaceId={workspaceId} />
      <Select
        aria-label="Status"
        placeholder="Any status"
        w={190}
        clearable
        data={statuses}
        value={status ?? null}
        onChange={(chosen) =>
          void navigate({
            to: "/settings/callbacks",
            search: ({ ws }) => ({ ws, status: chosen ?? undefined }),
            resetScroll: false,
          })
        }
      />
      {error !== null && <RegionError what="deliveries" error={error} retry={refetch} />}
      {data !== undefined && deliveries.length === 0 && (
        <Text className="muted">
          {status === undefined
            ? "No callbacks yet. A task with a webhook_url sends one."
            : `No callback is ${status}.`}
        </Text>
      )}
      {deliveries.length > 0 && (
        <SmallTable label="Deliveries, newest first" minWidth={760} headers={headers}>
          {deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} />
          ))}
        </SmallTable>
      )}
      <More next={read} />
    </Stack>
  );
}
