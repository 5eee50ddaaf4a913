/** Call durations over time: the median as a solid line, the 95th percentile as a dashed one. */
import "@mantine/charts/styles.css";
import { LineChart } from "@mantine/charts";
import { readDuration } from "../../base/numbers.ts";
import { readTick, type Step } from "../../base/steps.ts";
import { titleOf } from "./chart-title.ts";

export interface TimePoint {
  readonly start: string;
  readonly p50: number | null;
  readonly p95: number | null;
}

const dotRoom = 8;

export function ChartLines(props: { points: readonly TimePoint[]; step: Step; title: string }) {
  const { points, step, title } = props;
  return (
    <LineChart
      h="100%"
      dataKey="start"
      data={points.map((point) => ({ ...point }))}
      series={[
        { name: "p50", color: "var(--series-1)" },
        { name: "p95", color: "var(--series-2)", strokeDasharray: "6 4" },
      ]}
      valueFormatter={readDuration}
      curveType="linear"
      tickLine="none"
      gridAxis="x"
      connectNulls={false}
      withDots={points.length <= 31}
      xAxisProps={{
        tickFormatter: (start: string) => readTick(start, step),
        minTickGap: 24,
        // Keeps the dots at both ends whole: one of them is today's.
        padding: { left: dotRoom, right: dotRoom },
      }}
      yAxisProps={{ width: 64 }}
      tooltipProps={{ labelFormatter: (start) => titleOf(start, step) }}
      lineChartProps={{ title }}
      lineProps={{ isAnimationActive: false }}
    />
  );
}
