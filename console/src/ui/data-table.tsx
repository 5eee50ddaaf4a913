/**
 * A long list as a virtual table: the page has only the visible rows, and reads the next ones near the end. Columns are fixed, so that
 * nothing moves while rows arrive.
 */
import { Skeleton, Table } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type RefObject } from "react";
import {
  classOf,
  NarrowRow,
  narrowRowHeight,
  rowHeight,
  WideRow,
  type Column,
} from "./data-row.tsx";
import classes from "./data-table.module.css";
import { fits, fitting } from "./fitting.ts";
import { More } from "./more.tsx";
import { useNarrow } from "./narrow.ts";
import { useNextSoon, type NextPage } from "./pages.ts";
import { useRowKeys } from "./row-keys.ts";
import { useCoveredTitles } from "./use-covered-titles.ts";
import { useIsPrinting } from "./use-is-printing.ts";
import { useWidth } from "./use-width.ts";

export type { Column } from "./data-row.tsx";

const overscan = 12;

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first rows load. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** The next page of a paged list. */
  readonly next?: NextPage;
  /** Why the next rows do not load automatically; undefined: they do. */
  readonly pause?: string | undefined;
  /** In pixels; in a narrower window, the page scrolls sideways. If absent, columns are left out instead. */
  readonly minWidth?: number | undefined;
}

const waitingRows = 8;

function Waiting({ columns }: { columns: number }) {
  return Array.from({ length: waitingRows }, (_, index) => (
    <Table.Tr key={index} h={rowHeight}>
      <Table.Td colSpan={columns}>
        <Skeleton height={12} />
      </Table.Td>
    </Table.Tr>
  ));
}

const Head = <Row,>({ columns }: { columns: readonly Column<Row>[] }) => (
  <Table.Thead className={classes["head"]}>
    <Table.Tr>
      {columns.map((column) => (
        <Table.Th key={column.header} w={column.width} className={classOf(column)}>
          {column.header}
        </Table.Th>
      ))}
    </Table.Tr>
  </Table.Thead>
);

/** A spacer in place of the rows that are not rendered. */
const Space = ({ height, columns }: { height: number; columns: number }) =>
  height > 0 && (
    <tr aria-hidden style={{ height }}>
      <td colSpan={columns} aria-label="rows out of sight" />
    </tr>
  );

const widthOf = ({ minWidth }: { readonly minWidth?: number | undefined }, isNarrow: boolean) =>
  !isNarrow && minWidth !== undefined && { miw: minWidth };

/** The columns that fit; if not even the phone's columns fit, two-line rows, which need all columns. */
function useColumns<Row>(
  { columns, minWidth }: Pick<DataTableProps<Row>, "columns" | "minWidth">,
  place: RefObject<HTMLElement | null>,
): { readonly columns: readonly Column<Row>[]; readonly isNarrow: boolean } {
  const isPhone = useNarrow();
  const room = useWidth(place);
  if (isPhone || minWidth !== undefined) return { columns, isNarrow: isPhone };
  const fitted = fitting(columns, room);
  return fits(fitted, room) ? { columns: fitted, isNarrow: false } : { columns, isNarrow: true };
}

// oxlint-disable react/incompatible-library -- the virtual list tells this component itself when it has moved
/** The rows to draw: those near the window, or all of them on paper, which has no rows out of sight. */
function useDrawnRows(count: number, isNarrow: boolean, body: RefObject<HTMLElement | null>) {
  const isPrinting = useIsPrinting();
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => (isNarrow ? narrowRowHeight : rowHeight),
    overscan: isPrinting ? count : overscan,
    scrollMargin: body.current?.offsetTop ?? 0,
  });
  useEffect(() => virtual.measure(), [isNarrow, virtual]);
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  const margin = virtual.options.scrollMargin;
  return {
    items,
    isNearEnd: !isPrinting && last !== undefined && last.index >= count - overscan,
    before: first === undefined ? 0 : first.start - margin,
    after: last === undefined ? 0 : virtual.getTotalSize() - (last.end - margin),
  };
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, keyOf, next, pause } = props;
  const place = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body);
  useCoveredTitles(body);
  const count = rows?.length ?? 0;
  const { columns, isNarrow } = useColumns(props, place);
  const OneRow = isNarrow ? NarrowRow : WideRow;
  const across = isNarrow ? 1 : columns.length;
  const { items, isNearEnd, before, after } = useDrawnRows(count, isNarrow, body);
  useNextSoon(next, isNearEnd && pause === undefined);
  return (
    <>
      <div ref={place} />
      <Table
        className={classes["table"]}
        aria-label={props.label}
        aria-rowcount={-1}
        {...widthOf(props, isNarrow)}
      >
        {!isNarrow && <Head columns={columns} />}
        <Table.Tbody ref={body}>
          <Space height={before} columns={across} />
          {rows === undefined && <Waiting columns={across} />}
          {items.map(({ index }) => {
            const row = rows![index]!;
            return <OneRow key={keyOf(row)} columns={columns} row={row} />;
          })}
          <Space height={after} columns={across} />
        </Table.Tbody>
      </Table>
      {next !== undefined && (
        <More
          next={next}
          size="xs"
          note={pause}
          label={pause === undefined ? "Show more" : "Search further"}
        />
      )}
    </>
  );
}
