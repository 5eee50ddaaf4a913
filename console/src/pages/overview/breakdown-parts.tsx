/** The head and a row of an overview table. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { readChange, readShare } from "../../base/numbers.ts";
import { Measure, widthFor } from "./measure.tsx";
import classes from "./overview.module.css";
import type { Only } from "./search.ts";
import { measureOf, type UsageRow } from "./usage.ts";

type Rows = Readonly<Record<string, string | undefined>>;

/** A key links to its page with the same period; a tag value or provider filters the overview. */
function Name(props: { row: UsageRow; name: string; only: Only | undefined; rows: Rows }) {
  const { row, name, only, rows } = props;
  const { period, from, to } = rows;
  if (only !== undefined)
    return (
      <Link to="/overview" search={(before) => ({ ...before, ...only })}>
        {name}
      </Link>
    );
  if (row.key_id == null) return name;
  return (
    <Link
      to="/keys/$id"
      params={{ id: row.key_id }}
      search={({ ws }) => ({ ws, period, from, to })}
    >
      {name}
    </Link>
  );
}

/** The row of one group. */
export function Line(props: {
  row: UsageRow;
  name: string;
  sum: bigint;
  before: ((row: UsageRow) => bigint) | undefined;
  filter: Readonly<Record<string, string>> | undefined;
  rows: Rows;
  /** For a tag value or provider: the filter that restricts this page to its calls. */
  only: Only | undefined;
}) {
  const { row, name, sum, before, filter, rows, only } = props;
  const cost = measureOf(row, "cost");
  const part = sum > 0n ? Number((cost * 1000n) / sum) / 10 : 0;
  return (
    <tr>
      <td className="cut" title={name}>
        <Name row={row} name={name} only={only} rows={rows} />
      </td>
      <td className={classes["right"]}>
        <Measure size={cost} metric="cost" filter={filter} rows={rows} />
      </td>
      <td className={`${classes["right"]} ${classes["wide"]} ${classes["part"]}`}>
        {readShare(cost, sum)}
        <span
          className={`${classes["share"]} own-colours`}
          style={{ width: `calc((100% - 12px) * ${part / 100})` }}
        />
      </td>
      {before !== undefined && (
        <td className={classes["right"]}>
          {row.other === true ? "" : readChange(cost, before(row))}
        </td>
      )}
      <td className={`${classes["right"]} ${classes["wide"]}`}>
        <Measure size={BigInt(row.requests)} metric="requests" filter={filter} rows={rows} />
      </td>
      <td className={classes["right"]} title={`${row.errors} of ${row.requests}`}>
        {readShare(BigInt(row.errors), BigInt(row.requests))}
      </td>
    </tr>
  );
}

/** The column headers; the change header is a button that sorts by it. */
export function Head(props: {
  compared: boolean;
  isByChange: boolean;
  set: () => void;
  /** The sum of all rows, in nano-USD. */
  sum: bigint;
}) {
  const { compared, isByChange, set, sum } = props;
  const right = classes["right"];
  return (
    <thead>
      <tr>
        <th style={{ textAlign: "left" }}>Name</th>
        <th className={right} style={{ width: widthFor(sum, "cost", 76) }}>
          USD
        </th>
        <th className={`${right} ${classes["wide"]}`} style={{ width: 56 }}>
          Share
        </th>
        {compared && (
          <th
            className={right}
            style={{ width: 72 }}
            aria-sort={isByChange ? "descending" : "none"}
          >
            <Button size="compact-xs" px={0} variant="subtle" onClick={set}>
              Change{isByChange ? " ↓" : ""}
            </Button>
          </th>
        )}
        <th className={`${right} ${classes["wide"]}`} style={{ width: 60 }}>
          Calls
        </th>
        <th className={right} style={{ width: 60 }}>
          Errors
        </th>
      </tr>
    </thead>
  );
}
