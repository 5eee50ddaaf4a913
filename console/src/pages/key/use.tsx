/** A key's usage by model and over time; each row links to its calls. */
import { Anchor, Group, Skeleton, Table, Text } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { readCount } from "../../base/numbers.ts";
import type { PeriodSearch } from "../../base/period.ts";
import { endOf, readPlace, stepOf, type Step } from "../../base/steps.ts";
import { Money } from "../../ui/money.tsx";
import { PeriodPicker, UnreadPeriod } from "../../ui/period-picker.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { useRerenderOnFocus } from "../../ui/use-rerender-on-focus.ts";
import { byModel } from "./by-model.ts";
import { Clients } from "./clients.tsx";
import { fallback, periodOf, type Period } from "./period.ts";
import { useUse, type Key } from "./queries.ts";

/** The columns of both tables. */
interface Row {
  readonly requests: number;
  readonly errors: number;
  readonly cost: string;
}
type Filter = PeriodSearch & { readonly key: string; readonly model?: string };

const headers = {
  model: "Model",
  hour: "Hour (UTC)",
  day: "Day (UTC)",
  month: "Month (UTC)",
} as const;

interface UseTableProps<Each extends Row> {
  readonly by: keyof typeof headers;
  readonly rows: readonly Each[];
  readonly name: (row: Each) => string;
  /** The log filter for the row's calls; undefined if the log does not have them. */
  readonly filter: (row: Each) => Filter | undefined;
}

function Count({ count, filter }: { count: number; filter: Filter | undefined }) {
  if (filter === undefined) return readCount(count);
  return (
    <Link to="/requests" search={({ ws }) => ({ ws, ...filter })}>
      {readCount(count)}
    </Link>
  );
}

function UseTable<Each extends Row>({ by, rows, name, filter }: UseTableProps<Each>) {
  return (
    <ScrollBox label={`Use by ${by}`}>
      <Table aria-label={`Use by ${by}`} maw={720} mb="xl">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{headers[by]}</Table.Th>
            <Table.Th ta="right">Requests</Table.Th>
            <Table.Th ta="right">Errors</Table.Th>
            <Table.Th ta="right">Spent (USD)</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={name(row)}>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{name(row)}</Table.Td>
              <Table.Td ta="right">
                <Count count={row.requests} filter={filter(row)} />
              </Table.Td>
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

/** The overlap of a time step with the period. */
function within(start: string, step: Step, { from, to, isOpen }: Period): PeriodSearch {
  const end = endOf(start, step);
  return {
    from: new Date(Math.max(Date.parse(start), from.getTime())).toISOString(),
    to: (isOpen || end < to ? end : to).toISOString(),
  };
}

function Tables({ id, period }: { id: string; period: Period }) {
  const step = stepOf(period);
  const { data, error, refetch } = useUse(id, period, step);
  if (error !== null) return <RegionError what="use" error={error} retry={refetch} />;
  if (data === undefined) return <Skeleton height={160} mb="xl" />;
  const models = byModel(data.also?.[0]?.data ?? []);
  const steps = data.data.filter(({ requests }) => requests > 0).toReversed();
  if (models.length === 0) return <Text className="muted">No calls in this period.</Text>;
  return (
    <>
      <UseTable
        by="model"
        rows={models}
        name={({ name }) => name}
        filter={({ model }) =>
          model === undefined ? undefined : { key: id, model, ...period.search }
        }
      />
      {steps.length > 0 && (
        <UseTable
          by={step}
          rows={steps}
          name={({ start }) => readPlace(start, step)}
          filter={({ start }) => ({ key: id, ...within(start, step, period) })}
        />
      )}
    </>
  );
}

export function Use({ apiKey, search }: { apiKey: Key; search: PeriodSearch }) {
  const navigate = useNavigate();
  const { id } = apiKey;
  useRerenderOnFocus();
  const period = periodOf(search);
  return (
    <>
      <Group mb="lg" gap="lg">
        <PeriodPicker
          search={search}
          fallback={fallback}
          set={(chosen) =>
            void navigate({
              to: "/keys/$id",
              params: { id },
              search: ({ ws, tab }) => ({ ws, tab, ...chosen }),
            })
          }
        />
        <Anchor
          renderRoot={(props) => (
            <Link
              to="/requests"
              search={({ ws }) => ({ ws, key: id, ...period.search })}
              {...props}
            />
          )}
        >
          Requests of this period
        </Anchor>
      </Group>
      <UnreadPeriod unread={period.unread} label={period.label} />
      <Tables id={id} period={period} />
      <Clients apiKey={apiKey} />
    </>
  );
}
