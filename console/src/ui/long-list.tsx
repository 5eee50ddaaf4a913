/** A list that comes in pages: its table, what stands there while it is empty, and what went wrong. */
import type { ReactNode } from "react";
import { DataTable, type Column } from "./data-table.tsx";
import { RegionError } from "./region-error.tsx";

/** What an infinite query gives of lists of the API. */
interface Paged<Row> {
  readonly data: { readonly pages: readonly { readonly data: readonly Row[] }[] } | undefined;
  readonly error: Error | null;
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
  readonly refetch: () => unknown;
}

interface LongListProps<Row> {
  readonly query: Paged<Row>;
  /** What it lists, in the plural, such as "keys". */
  readonly what: string;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** Why the next page is not asked for by itself; undefined: it is. */
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
          more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
          moreUnderWay={query.isFetchingNextPage}
          pause={pause}
          minWidth={minWidth}
        />
      )}
    </>
  );
}
