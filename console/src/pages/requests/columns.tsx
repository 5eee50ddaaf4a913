/** The columns of the log. */
import { readCount, readDuration } from "../../base/numbers.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Money } from "../../ui/money.tsx";
import { Outcome } from "../../ui/outcome.tsx";
import type { Row } from "./queries.ts";
import { RowLink } from "./row-link.tsx";

const nothing = <span className="muted">-</span>;
const counted = (row: Row, name: string) => {
  const count = (row.usage as Record<string, unknown> | null)?.[name];
  return typeof count === "number" ? (
    <span title={String(count)}>{readCount(count)}</span>
  ) : (
    nothing
  );
};
const lasted = (ms: number | null) => (ms === null ? nothing : readDuration(ms));

/** What a row is remarkable for, beside how it ended. */
function marksOf(row: Row): string {
  const { attempts_count: tries = 0, dropped_count: dropped = 0, protocol } = row;
  const upstream = row.upstream_protocol ?? null;
  return [
    ...(row.cache === "hit" ? ["cached"] : []),
    ...(tries > 1 ? [`${tries} tries`] : []),
    ...(dropped > 0 ? ["changed"] : []),
    ...(upstream !== null && upstream !== protocol ? ["converted"] : []),
  ].join(", ");
}

function Ended({ row }: { row: Row }) {
  const marks = marksOf(row);
  return (
    <>
      <Outcome row={row} />
      {marks !== "" && (
        <span className="muted" title={marks}>
          {", "}
          {marks}
        </span>
      )}
    </>
  );
}

export const columns: readonly Column<Row>[] = [
  {
    header: "Time",
    width: 120,
    phone: 2,
    cell: (row) => <RowLink row={row} />,
  },
  { header: "Key", width: 100, wide: true, cell: (row) => row.key_name ?? nothing },
  { header: "Model", phone: 1, cell: (row) => row.model ?? nothing },
  { header: "Provider", width: 120, wide: true, cell: (row) => row.provider ?? nothing },
  {
    header: "In",
    width: 64,
    align: "right",
    wide: true,
    cell: (row) => counted(row, "input_tokens"),
  },
  {
    header: "Out",
    width: 64,
    align: "right",
    wide: true,
    cell: (row) => counted(row, "output_tokens"),
  },
  {
    header: "Cost (USD)",
    width: 104,
    align: "right",
    phone: 2,
    cell: (row) => <Money amount={row.cost} />,
  },
  {
    header: "Took",
    width: 80,
    align: "right",
    wide: true,
    phone: 2,
    cell: (row) => lasted(row.duration_ms),
  },
  {
    header: "First token",
    width: 88,
    align: "right",
    wide: true,
    roomy: true,
    cell: (row) => lasted(row.first_token_ms),
  },
  { header: "Outcome", width: 200, phone: 1, cell: (row) => <Ended row={row} /> },
];
