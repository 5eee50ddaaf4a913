/** A paged list: its table, its empty state, and its errors. */
import type { ReactNode } from "react";
import { DataTable, type Column } from "./data-table.tsx";
import type { Paged } from "./pages.ts";
import { RegionError } from "./region-error.tsx";

interface LongListProps<Row> {
  readonly query: Paged<{ readonly data: readonly Row[] }>;
  /** The plural name of its rows, such as "keys". */
  readonly what: string;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** Why the next page does not load automatically; undefined: it does. */
  readonly pause?: string | undefined;
  readonly minWidth?: number | undefined;
}

export function LongList<Row>(props: LongListProps<Row>) {
  const { query, what, label, columns, keyOf, empty, pause, minWidth } = props;
  const rows = query.data?.pages.flatMap(({ data }) => data);
  return (
    <>
      {query.error !== null && (
        <RegionError what={what} error={query.error} retry={query.refetch} />
      )}
      {rows?.length === 0 && !query.hasNextPage && empty}
      {(rows === undefined ? query.error === null : rows.length > 0 || query.hasNextPage) && (
        <DataTable
          label={label}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          next={query}
          pause={pause}
          minWidth={minWidth}
        />
      )}
    </>
  );
}
