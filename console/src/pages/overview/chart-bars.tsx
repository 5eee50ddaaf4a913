/** Stacked bars over time. Loaded after the numbers, into a box of fixed size. */
import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import { readTick, type Step } from "../../base/steps.ts";
import { titleOf } from "./chart-title.ts";
import type { Bars } from "./usage.ts";

interface ChartBarsProps {
  readonly bars: Bars;
  readonly step: Step;
  readonly title: string;
  /** Formats a size. */
  readonly read: (size: number) => string;
  /** Called with the start of a clicked bar. */
  readonly choose: (start: string) => void;
}

const startOf = (bar: unknown): string | undefined => {
  const { payload } = bar as { payload?: { start?: unknown } };
  return typeof payload?.start === "string" ? payload.start : undefined;
};

/**
 * The data field of a series. Not its name: the chart library reads a dot, as in a model's name, as a path into the data, and would
 * find nothing.
 */
const fieldOf = (place: number): string => `series ${place}`;

export function ChartBars({ bars, step, title, read, choose }: ChartBarsProps) {
  return (
    <BarChart
      h="100%"
      type="stacked"
      dataKey="start"
      data={bars.points.map((point) => ({
        start: point.start,
        ...Object.fromEntries(bars.series.map(({ name }, place) => [fieldOf(place), point[name]])),
      }))}
      series={bars.series.map(({ label, color }, place) => ({
        name: fieldOf(place),
        label,
        color,
      }))}
      valueFormatter={read}
      tickLine="none"
      gridAxis="x"
      xAxisProps={{ tickFormatter: (start: string) => readTick(start, step), minTickGap: 24 }}
      yAxisProps={{ width: 64 }}
      tooltipProps={{ labelFormatter: (start) => titleOf(start, step) }}
      barChartProps={{ title }}
      barProps={{
        isAnimationActive: false,
        cursor: "pointer",
        onClick: (bar: unknown) => {
          const start = startOf(bar);
          if (start !== undefined) choose(start);
        },
      }}
    />
  );
}
