/** The columns of the log. */
import { Link } from "@tanstack/react-router";
import { readCount, readDuration } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Money } from "../../ui/money.tsx";
import { Outcome } from "../../ui/outcome.tsx";
import type { Row } from "./queries.ts";

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

export const columns: readonly Column<Row>[] = [
  {
    header: "Time",
    width: 120,
    phone: 2,
    cell: (row) => (
      <Link
        to="/requests/$id"
        params={{ id: row.id }}
        search={({ ws }) => ({ ws })}
        title={row.created_at}
      >
        {readTime(new Date(row.created_at), new Date())}
      </Link>
    ),
  },
  { header: "Key", width: 100, wide: true, cell: (row) => row.key_name ?? nothing },
  { header: "Model", phone: 1, cell: (row) => row.model ?? nothing },
  { header: "Provider", width: 120, wide: true, cell: (row) => row.provider ?? nothing },
  {
    header: "In",
    width: 80,
    align: "right",
    wide: true,
    cell: (row) => counted(row, "input_tokens"),
  },
  {
    header: "Out",
    width: 80,
    align: "right",
    wide: true,
    cell: (row) => counted(row, "output_tokens"),
  },
  {
    header: "Cost (USD)",
    width: 116,
    align: "right",
    phone: 2,
    cell: (row) => <Money amount={row.cost} />,
  },
  {
    header: "Took",
    width: 88,
    align: "right",
    wide: true,
    phone: 2,
    cell: (row) => lasted(row.duration_ms),
  },
  { header: "Outcome", width: 160, phone: 1, cell: (row) => <Outcome row={row} /> },
];
