/** The bar chart as a table: every number, linked to its calls. */
import { readPlace, type Step } from "../../base/steps.ts";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Measure } from "./measure.tsx";
import classes from "./overview.module.css";
import type { Metric } from "./search.ts";
import type { Bars } from "./usage.ts";

const timeWidth = 104;
const sizeWidth = 108;

const headClass = `${classes["right"]} ${classes["apart"]} cut`;

export function ChartTable(props: {
  bars: Bars;
  metric: Metric;
  step: Step;
  /** The filter of the calls from one start to the next. */
  at: (start: string) => Readonly<Record<string, string | undefined>>;
}) {
  const { bars, metric, step, at } = props;
  return (
    <ScrollBox label="The chart as a table">
      <table
        className={classes["table"]}
        width="100%"
        aria-label="Over time"
        style={{ minWidth: timeWidth + (bars.series.length + 1) * sizeWidth }}
      >
        <thead>
          <tr>
            <th style={{ width: timeWidth, textAlign: "left" }}>UTC</th>
            {bars.series.map(({ name, label }) => (
              <th key={name} className={headClass} title={label}>
                {label}
              </th>
            ))}
            <th className={classes["right"]}>All</th>
          </tr>
        </thead>
        <tbody>
          {bars.points.map(({ start }) => {
            const sizes = bars.exact.get(start);
            const all = [...(sizes?.values() ?? [])].reduce((sum, size) => sum + size, 0n);
            return (
              <tr key={start}>
                <th scope="row" style={{ textAlign: "left" }}>
                  {readPlace(start, step)}
                </th>
                {bars.series.map(({ name, filter }) => (
                  <td key={name} className={classes["right"]}>
                    <Measure
                      size={sizes?.get(name) ?? 0n}
                      metric={metric}
                      filter={filter}
                      rows={at(start)}
                    />
                  </td>
                ))}
                <td className={classes["right"]}>
                  <Measure size={all} metric={metric} filter={{}} rows={at(start)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </ScrollBox>
  );
}
