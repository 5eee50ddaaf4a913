/** What a key used: by model and by hour, each with the way to its calls. */
import { Anchor, Group, SegmentedControl, Table, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { readCount } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import { Money } from "../../ui/money.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Clients } from "./clients.tsx";
import { periodOf, periods } from "./periods.ts";
import { useUse, type Key } from "./queries.ts";

type Row = NonNullable<ReturnType<typeof useUse>["data"]>["data"][number];

interface UseTableProps {
  readonly what: string;
  readonly rows: readonly Row[];
  readonly name: (row: Row) => string;
}

function UseTable({ what, rows, name }: UseTableProps) {
  return (
    <ScrollBox label={`Use by ${what}`}>
      <Table aria-label={`Use by ${what}`} maw={720}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{what === "hour" ? "Hour" : "Model"}</Table.Th>
            <Table.Th ta="right">Requests</Table.Th>
            <Table.Th ta="right">Errors</Table.Th>
            <Table.Th ta="right">Spent (USD)</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={name(row)}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{name(row)}</Table.Td>
              <Table.Td ta="right">{readCount(row.requests)}</Table.Td>
              <Table.Td ta="right">{readCount(row.errors)}</Table.Td>
              <Table.Td ta="right">
                <Money amount={row.cost} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  );
}

export function Use({ apiKey, period }: { apiKey: Key; period: string | undefined }) {
  const navigate = useNavigate();
  const { value, label } = periodOf(period);
  const byModel = useUse(apiKey.id, period, "model");
  const byHour = useUse(apiKey.id, "24h", "hour");
  const rows = byModel.data?.data ?? [];
  const hours = (byHour.data?.data ?? []).filter(({ requests }) => requests > 0).toReversed();
  const { id } = apiKey;
  return (
    <>
      <Group mb="lg" gap="lg">
        <SegmentedControl
          aria-label="Period"
          data={periods.map((one) => ({ value: one.value, label: one.label }))}
          value={value}
          onChange={(next) =>
            void navigate({
              to: "/keys/$id",
              params: { id },
              search: (before) => ({ ...before, period: next }),
            })
          }
        />
        <Anchor
          renderRoot={(props) => (
            <Link to="/requests" search={({ ws }) => ({ ws, key: id, period: value })} {...props} />
          )}
        >
          Requests of this period
        </Anchor>
      </Group>
      {byModel.error !== null && (
        <RegionError what="use" error={byModel.error} retry={byModel.refetch} />
      )}
      {byModel.data !== undefined && rows.length === 0 && (
        <Text className="muted">No calls in the last {label}.</Text>
      )}
      {rows.length > 0 && (
        <UseTable what="model" rows={rows} name={({ model }) => model ?? "not in the log"} />
      )}
      {hours.length > 0 && (
        <>
          <Text component="h2" fw={650} mt="xl" mb="sm">
            The last 24 hours
          </Text>
          <UseTable
            what="hour"
            rows={hours}
            name={({ start }) => readTime(new Date(start)).slice(0, -7)}
          />
        </>
      )}
      <Clients apiKey={apiKey} />
    </>
  );
}
