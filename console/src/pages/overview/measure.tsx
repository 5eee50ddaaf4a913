/** A number of the overview: short, exact on hover, linked to its calls. */
import { Link } from "@tanstack/react-router";
import { exactUsd, readUsd } from "../../base/money.ts";
import { readCount } from "../../base/numbers.ts";
import type { Metric } from "./search.ts";

const read = (size: bigint, metric: Metric): string =>
  metric === "cost" ? readUsd(size) : readCount(Number(size));

/** The CSS width of a column with this largest number: a million dollars needs more than the usual width. */
export const widthFor = (largest: bigint, metric: Metric, px: number): string =>
  `max(${px}px, calc(${read(largest, metric).length}ch + 4px))`;

export function Measure(props: {
  size: bigint;
  metric: Metric;
  /** The filter of its calls; undefined if no filter selects exactly them. */
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
