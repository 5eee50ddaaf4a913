/** Usage over time by one group: bars with a legend, or a table. */
import { Button, Group as Row, Select, Skeleton, Title, Text, VisuallyHidden } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { readUsd } from "../../base/money.ts";
import { readCount, readShare } from "../../base/numbers.ts";
import type { ShownSpan } from "../../base/period.ts";
import { cutOf, endOf, startsOf, type Step } from "../../base/steps.ts";
import { CsvButton } from "../../ui/csv-button.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { usePageKeys } from "../../ui/shortcuts.ts";
import { useWorkspaceNames } from "../../ui/workspaces.ts";
import classes from "./overview.module.css";
import { Measure, widthFor } from "./measure.tsx";
import { daysOf, chartStepOf, stepsQuery, useSteps } from "./queries.ts";
import {
  byOf,
  labelOf,
  metricLabels,
  metricOf,
  metrics,
  tagOf,
  type Group,
  type Metric,
  type OverviewSearch,
} from "./search.ts";
import { ChartTable } from "./chart-table.tsx";
import { barsOf, type Bars } from "./usage.ts";

const ChartBars = lazy(async () => ({ default: (await import("./chart-bars.tsx")).ChartBars }));

const stepWords = { hour: "hour", day: "day", month: "month" } as const;

function Legend(props: {
  bars: Bars;
  by: Group;
  metric: Metric;
  rows: Readonly<Record<string, string | undefined>>;
}) {
  const { bars, by, metric, rows } = props;
  const whole = bars.series.reduce((sum, { total }) => sum + total, 0n);
  return (
    <table className={classes["table"]} aria-label="Legend" width="100%">
      <thead className={classes["unseen"]}>
        <tr>
          <th>
            <VisuallyHidden>{labelOf(by)}</VisuallyHidden>
          </th>
          <th style={{ width: widthFor(whole, metric, 88) }}>
            <VisuallyHidden>{metricLabels[metric]}</VisuallyHidden>
          </th>
          <th style={{ width: 64 }}>
            <VisuallyHidden>Share</VisuallyHidden>
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.series.map(({ name, label, color, total, filter }) => (
          <tr key={name}>
            <td className="cut" title={label}>
              <span className={`${classes["swatch"]} own-colours`} style={{ background: color }} />
              {label}
            </td>
            <td className={classes["right"]}>
              <Measure size={total} metric={metric} filter={filter} rows={rows} />
            </td>
            <td className={classes["right"]}>{readShare(total, whole)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface OverTimeProps {
  readonly search: OverviewSearch;
  readonly shown: ShownSpan;
  readonly groups: readonly Group[];
  /** The log filter of the whole period. */
  readonly rows: Readonly<Record<string, string | undefined>>;
  readonly set: (change: Partial<OverviewSearch>) => void;
}

function Choices({ search, shown, groups, set }: OverTimeProps) {
  const [by, metric] = [byOf(search, groups), metricOf(search)];
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
        data={groups.map((value) => ({ value, label: `by ${labelOf(value)}` }))}
        value={by}
        onChange={(value) => set({ by: value === groups[0] ? undefined : value! })}
      />
      <Button
        variant="default"
        aria-pressed={search.table !== undefined}
        onClick={() => set({ table: search.table === undefined ? "1" : undefined })}
      >
        As a table
      </Button>
      <CsvButton path="/admin/v1/usage" query={() => stepsQuery(search, shown, by)} name="usage" />
    </Row>
  );
}

/** The time span of a bar. Tags have whole days, which may begin before the period. */
function spanOf(start: string, of: { step: Step; shown: ShownSpan; isDays: boolean }) {
  const { step, shown, isDays } = of;
  const end = endOf(start, step);
  const begin = new Date(start);
  return daysOf({
    from: (isDays || begin > shown.from ? begin : shown.from).toISOString(),
    to: (isDays || end < shown.to ? end : shown.to).toISOString(),
  });
}

/** Links to the calls, and names partial bars: they are lower, which is no decline. */
const Foot = ({ rows, cut }: Pick<OverTimeProps, "rows"> & { cut: string }) => (
  <Text size="sm" mt="sm">
    <Link to="/requests" search={rows} className="muted">
      All calls of this period
    </Link>
    <span className="muted"> {cut}</span>
  </Text>
);

export function OverTime(props: OverTimeProps) {
  const { search, shown, rows, groups, set } = props;
  const navigate = useNavigate();
  const [by, metric] = [byOf(search, groups), metricOf(search)];
  const step = chartStepOf(shown, search, by);
  const query = useSteps(search, shown, by);
  const names = useWorkspaceNames();
  const isTable = search.table !== undefined;
  usePageKeys([
    {
      key: "t",
      what: "The charts as tables, and back",
      act: () => set({ table: isTable ? undefined : "1" }),
    },
  ]);
  const title = `${metricLabels[metric]} by ${stepWords[step]} (UTC) and ${labelOf(by)}`;
  const bars =
    query.rows && barsOf(query.rows, { by, metric, starts: startsOf(shown, step), names });
  const isDays = search.tag !== undefined || tagOf(by) !== undefined;
  const of = isDays && query.data !== undefined ? { ...rows, ...daysOf(query.data) } : rows;
  const at = (start: string) => ({ ...rows, ...spanOf(start, { step, shown, isDays }) });
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
      {bars !== undefined && isTable && (
        <ChartTable bars={bars} metric={metric} step={step} at={at} />
      )}
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
          <Legend bars={bars} by={by} metric={metric} rows={of} />
        </div>
      )}
      {/* Sums by tag cover whole days. */}
      <Foot rows={of} cut={isDays ? "" : cutOf(shown, step)} />
    </section>
  );
}
