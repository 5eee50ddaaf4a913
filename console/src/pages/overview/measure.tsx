/** A number of the overview: short for reading, exact when hovered, a link to the calls that it is of. */
import { Link } from "@tanstack/react-router";
import { exactUsd, readUsd } from "../../base/money.ts";
import { readCount } from "../../base/numbers.ts";
import type { Metric } from "./search.ts";

const read = (size: bigint, metric: Metric): string =>
  metric === "cost" ? readUsd(size) : readCount(Number(size));

/** The width of a column whose largest number is this, in CSS: a million dollars takes more than there is room for else. */
export const widthFor = (largest: bigint, metric: Metric, px: number): string =>
  `max(${px}px, calc(${read(largest, metric).length}ch + 4px))`;

export function Measure(props: {
  size: bigint;
  metric: Metric;
  /** The filter of the calls; undefined where there is none that leaves them alone. */
  filter: Readonly<Record<string, string>> | undefined;
  /** The filter of the period's calls. */
  rows: Readonly<Record<string, string | undefined>>;
}) {
  const { size, metric, filter, rows } = props;
  const text = read(size, metric);
  const exact = metric === "cost" ? `${exactUsd(size)} USD` : String(size);
  if (filter === undefined)
    return (
      <span className="number" title={exact}>
        {text}
      </span>
    );
  const failed = metric === "errors" ? { status: "failed,expired" } : {};
  return (
    <Link
      className="number"
      to="/requests"
      search={{ ...rows, ...filter, ...failed }}
      title={exact}
    >
      {text}
    </Link>
  );
}
