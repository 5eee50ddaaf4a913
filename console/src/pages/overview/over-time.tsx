/** What was used over time, by one group: bars with their legend, or the same as a table. */
import { Button, Group as Row, Select, Skeleton, Title, Text } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { readUsd } from "../../base/money.ts";
import { readCount, readShare } from "../../base/numbers.ts";
import { endOf, startsOf, stepOf, type Shown } from "../../base/period.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import classes from "./overview.module.css";
import { Measure } from "./measure.tsx";
import { stepsQuery, useSteps, useWorkspaceNames } from "./queries.ts";
import {
  byOf,
  groupLabels,
  metricLabels,
  metricOf,
  metrics,
  type Group,
  type Metric,
  type OverviewSearch,
} from "./search.ts";
import { Twin } from "./twin.tsx";
import { barsOf, type Bars } from "./usage.ts";

const ChartBars = lazy(async () => ({ default: (await import("./chart-bars.tsx")).ChartBars }));

const stepWords = { hour: "hour", day: "day", month: "month" } as const;

function Legend(props: {
  bars: Bars;
  metric: Metric;
  rows: Readonly<Record<string, string | undefined>>;
}) {
  const { bars, metric, rows } = props;
  const whole = bars.series.reduce((sum, { total }) => sum + total, 0n);
  return (
    <table className={classes["table"]} aria-label="What the colours are" width="100%">
      <tbody>
        {bars.series.map(({ name, label, color, total, filter }) => (
          <tr key={name}>
            <td className="cut" title={label}>
              <span className={classes["swatch"]} style={{ background: color }} />
              {label}
            </td>
            <td className={classes["right"]} style={{ width: 88 }}>
              <Measure size={total} metric={metric} filter={filter} rows={rows} />
            </td>
            <td className={classes["right"]} style={{ width: 64 }}>
              {readShare(total, whole)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface OverTimeProps {
  readonly search: OverviewSearch;
  readonly shown: Shown;
  readonly groups: readonly Group[];
  /** The filter of the rows behind the whole period. */
  readonly rows: Readonly<Record<string, string | undefined>>;
  readonly set: (change: Partial<OverviewSearch>) => void;
}

function Choices({ search, shown, groups, set }: OverTimeProps) {
  const [by, metric] = [byOf(search), metricOf(search)];
  return (
    <Row gap="sm" wrap="wrap">
      <Select
        aria-label="Measure"
        w={150}
        allowDeselect={false}
        data={metrics.map((value) => ({ value, label: metricLabels[value] }))}
        value={metric}
        onChange={(value) => set({ metric: value === metrics[0] ? undefined : value! })}
      />
      <Select
        aria-label="Group"
        w={150}
        allowDeselect={false}
        data={groups.map((value) => ({ value, label: `by ${groupLabels[value]}` }))}
        value={by}
        onChange={(value) => set({ by: value === "model" ? undefined : value! })}
      />
      <Button
        variant="default"
        aria-pressed={search.table !== undefined}
        onClick={() => set({ table: search.table === undefined ? "1" : undefined })}
      >
        As a table
      </Button>
      <CsvButton
        path="/admin/v1/usage"
        query={() => stepsQuery(search.ws, shown, by)}
        name="usage"
      />
    </Row>
  );
}

export function OverTime(props: OverTimeProps) {
  const { search, shown, rows, set } = props;
  const navigate = useNavigate();
  const [by, metric, step] = [byOf(search), metricOf(search), stepOf(shown)];
  const query = useSteps(search.ws, shown, by);
  const names = useWorkspaceNames();
  const isTable = search.table !== undefined;
  useHotkeys([["t", () => set({ table: isTable ? undefined : "1" })]]);
  const title = `${metricLabels[metric]} by ${stepWords[step]} (UTC) and ${groupLabels[by]}`;
  const bars =
    query.data && barsOf(query.data.data, { by, metric, starts: startsOf(shown, step), names });
  const at = (start: string) => ({
    ...rows,
    period: undefined,
    from: start < shown.from.toISOString() ? shown.from.toISOString() : start,
    to: new Date(Math.min(endOf(start, step).getTime(), shown.to.getTime())).toISOString(),
  });
  return (
    <section className="panel" style={{ marginBottom: 24 }} aria-label={title}>
      <Row justify="space-between" mb="md" gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Choices {...props} />
      </Row>
      {query.error !== null && (
        <RegionError what="usage" error={query.error} retry={query.refetch} />
      )}
      {bars === undefined && query.error === null && <Skeleton height={260} />}
      {bars !== undefined && isTable && <Twin bars={bars} metric={metric} step={step} at={at} />}
      {bars !== undefined && !isTable && (
        <div className={classes["drawn"]}>
          <div className={classes["box"]}>
            <Suspense fallback={<Skeleton height="100%" />}>
              <ChartBars
                bars={bars}
                step={step}
                title={title}
                read={(size) =>
                  metric === "cost" ? readUsd(BigInt(Math.round(size * 1e9))) : readCount(size)
                }
                choose={(start) => void navigate({ to: "/requests", search: at(start) })}
              />
            </Suspense>
          </div>
          <Legend bars={bars} metric={metric} rows={rows} />
        </div>
      )}
      <Text size="sm" mt="sm">
        <Link to="/requests" search={rows} className="muted">
          All calls of this period
        </Link>
      </Text>
    </section>
  );
}
