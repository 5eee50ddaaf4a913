/** The columns of the log. */
import { isolated } from "../../base/isolated.ts";
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

/** The notable facts of a row besides its outcome. */
function marksOf(row: Row): string {
  const { attempts_count: tries = 0, dropped_count: dropped = 0, protocol } = row;
  const upstream = row.upstream_protocol ?? null;
  return [
    ...(row.cache === "hit" ? ["cached"] : []),
    ...(tries > 1 ? [`${tries} attempts`] : []),
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

interface LogColumn extends Column<Row> {
  /** Hidden by default. */
  readonly extra?: true;
}

const tagsOf = (row: Row): string =>
  Object.entries(row.tags ?? {})
    .map(([name, value]) => `${isolated(name)}:${isolated(value)}`)
    .join(", ");
const text = (value: string | number | null | undefined) =>
  value == null || value === "" ? nothing : <span title={String(value)}>{value}</span>;
const number = { align: "right", wide: true } as const;

/** All columns, in order. The model column takes the remaining width. */
const known: readonly LogColumn[] = [
  {
    header: "Time",
    width: 120,
    phone: 2,
    cell: (row) => <RowLink row={row} />,
  },
  { header: "Key", width: 100, wide: true, cell: (row) => row.key_name ?? nothing },
  { header: "Model", phone: 1, cell: (row) => row.model ?? nothing },
  { header: "Provider", width: 120, wide: true, cell: (row) => row.provider ?? nothing },
  { header: "Protocol", width: 100, wide: true, extra: true, cell: (row) => text(row.protocol) },
  { header: "Tags", width: 140, wide: true, extra: true, cell: (row) => text(tagsOf(row)) },
  { header: "End user", width: 120, wide: true, extra: true, cell: (row) => text(row.end_user) },
  { header: "In", width: 64, ...number, cell: (row) => counted(row, "input_tokens") },
  {
    header: "Cached",
    width: 72,
    ...number,
    extra: true,
    cell: (row) => counted(row, "cache_read_tokens"),
  },
  { header: "Out", width: 64, ...number, cell: (row) => counted(row, "output_tokens") },
  {
    header: "Cost (USD)",
    width: 104,
    align: "right",
    phone: 2,
    phoneName: "USD",
    cell: (row) => <Money amount={row.cost} />,
  },
  { header: "Took", width: 80, ...number, phone: 2, cell: (row) => lasted(row.duration_ms) },
  {
    header: "First token",
    width: 88,
    ...number,
    roomy: true,
    cell: (row) => lasted(row.first_token_ms),
  },
  { header: "HTTP", width: 64, ...number, extra: true, cell: (row) => text(row.http_status) },
  { header: "Outcome", width: 200, phone: 1, cell: (row) => <Ended row={row} /> },
];

/** Always shown: the link to the call, the column with the remaining width, and the outcome. */
const fixed: ReadonlySet<string> = new Set(["Time", "Model", "Outcome"]);

/** Headers of the optional columns, and of the default ones. */
export const selectableColumns: readonly string[] = known
  .map(({ header }) => header)
  .filter((header) => !fixed.has(header));
export const defaultColumns: readonly string[] = known
  .filter(({ header, extra }) => !fixed.has(header) && extra !== true)
  .map(({ header }) => header);

/** The columns for a choice; chosen columns show however narrow the window is. */
export const columnsOf = (chosen: readonly string[]): readonly Column<Row>[] =>
  known
    .filter(({ header }) => fixed.has(header) || chosen.includes(header))
    .map(({ roomy, extra: _extra, ...column }) =>
      roomy === true && chosen === defaultColumns ? { ...column, roomy } : column,
    );

const modelMin = 160;

/** The width that chosen columns need, in pixels; the default columns adapt to the window. */
export const widthOf = (chosen: readonly string[]): number | undefined =>
  chosen === defaultColumns
    ? undefined
    : columnsOf(chosen).reduce((sum, { width = modelMin }) => sum + width, 0);
