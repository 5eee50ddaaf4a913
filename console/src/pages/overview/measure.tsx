/** A number of the overview: short for reading, exact when hovered, a link to the calls that it is of. */
import { Link } from "@tanstack/react-router";
import { exactUsd, readUsd } from "../../base/money.ts";
import { readCount } from "../../base/numbers.ts";
import type { Metric } from "./search.ts";

export function Measure(props: {
  size: bigint;
  metric: Metric;
  /** The filter of the calls; undefined where there is none that leaves them alone. */
  filter: Readonly<Record<string, string>> | undefined;
  /** The filter of the period's calls. */
  rows: Readonly<Record<string, string | undefined>>;
}) {
  const { size, metric, filter, rows } = props;
  const text = metric === "cost" ? readUsd(size) : readCount(Number(size));
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
