/** The callbacks of a task: URL, attempts, and redelivery. */
import { Button, Group, Table, Text } from "@mantine/core";
import type { Schemas } from "../../api/client.ts";
import { readDuration } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import { confirm } from "../../ui/confirm.tsx";
import { Part } from "../../ui/part.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { useMay } from "../../ui/use-may.ts";
import { useRedeliver } from "./actions.ts";
import { useDeliveries } from "./queries.ts";

type Delivery = Schemas["WebhookDeliveries"]["data"][number];

const tones: Readonly<Record<string, string>> = { delivered: "ok", failed: "bad" };

function Tries({ delivery }: { delivery: Delivery }) {
  return (
    <SmallTable
      label={`Attempts of ${delivery.type}`}
      headers={["Attempt", "Time", "Took", "Answer"]}
      numbers={["Took"]}
      widths={{ Attempt: 60, Time: 130, Took: 90 }}
    >
      {delivery.attempts.map((one) => (
        <Table.Tr key={`${one.attempt} ${one.started_at}`}>
          <Table.Td>{one.attempt}</Table.Td>
          <Table.Td title={one.started_at}>
            {readTime(new Date(one.started_at), new Date(delivery.created_at))}
          </Table.Td>
          <Table.Td ta="right">{readDuration(one.duration_ms)}</Table.Td>
          <Table.Td style={{ overflowWrap: "anywhere" }}>
            {one.http_status ?? one.error ?? "-"}
          </Table.Td>
        </Table.Tr>
      ))}
    </SmallTable>
  );
}

function One({ delivery }: { delivery: Delivery }) {
  const redeliver = useRedeliver();
  const mayRedeliver = useMay("delivery.redeliver");
  const ask = () =>
    confirm({
      title: "Send the callback again",
      text: `${delivery.url} gets the same event, with the same id, again.`,
      action: "Send again",
      run: () => redeliver.runNow(delivery.id),
    });
  return (
    <>
      <Group justify="space-between" mt="sm">
        <span style={{ overflowWrap: "anywhere", minWidth: 0 }}>
          <span className={tones[delivery.status] ?? "warn"}>{delivery.status}</span>{" "}
          {delivery.type} <span className="mono">{delivery.url}</span>
        </span>
        {mayRedeliver && (
          <Button size="xs" variant="default" onClick={ask}>
            Redeliver
          </Button>
        )}
      </Group>
      {delivery.attempts.length > 0 && <Tries delivery={delivery} />}
      {delivery.next_attempt_at !== null && (
        <Text size="sm" className="muted">
          Next try at {readTime(new Date(delivery.next_attempt_at), new Date(delivery.created_at))}
        </Text>
      )}
    </>
  );
}

/** Empty if no callback was requested. */
export function Callbacks({ id, isAsked }: { id: string; isAsked: boolean }) {
  const read = useDeliveries(id);
  const deliveries = read.data?.data ?? [];
  if (!isAsked && deliveries.length === 0) return null;
  return (
    <Part title="Callbacks">
      {read.error !== null && (
        <RegionError what="callbacks" error={read.error} retry={read.refetch} />
      )}
      {read.data !== undefined && deliveries.length === 0 && (
        <Text>A callback is sent when the task ends.</Text>
      )}
      {deliveries.map((delivery) => (
        <One key={delivery.id} delivery={delivery} />
      ))}
    </Part>
  );
}
