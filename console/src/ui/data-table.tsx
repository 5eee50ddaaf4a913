/**
 * A long list as a table: only the rows in sight are in the page, and the next ones are asked for as the end comes near.
 * Its columns are fixed, so that nothing moves while rows arrive.
 */
import { Button, Skeleton, Table } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type ReactNode } from "react";
import classes from "./data-table.module.css";

export interface Column<Row> {
  readonly header: string;
  /** In pixels; the one without a width takes what is left. */
  readonly width?: number;
  readonly align?: "right";
  /** Left out on narrow screens. */
  readonly wide?: true;
  cell(row: Row): ReactNode;
}

const rowHeight = 40;
const overscan = 12;

interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while the first of them are on their way. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** Asks for the next rows; undefined at the end. */
  readonly more: (() => void) | undefined;
  readonly moreUnderWay: boolean;
}

const classOf = ({ align, wide }: Column<never>): string =>
  [align === "right" ? classes["right"] : "", wide ? classes["wide"] : "", "cut"].join(" ");

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

/** The height of the rows that are not in the page. */
const Space = ({ height, columns }: { height: number; columns: number }) =>
  height > 0 && (
    <tr aria-hidden style={{ height }}>
      <td colSpan={columns} aria-label="rows out of sight" />
    </tr>
  );

// oxlint-disable react/incompatible-library -- the virtual list tells this component itself when it has moved
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { columns, rows, keyOf, more, moreUnderWay } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const count = rows?.length ?? 0;
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: body.current?.offsetTop ?? 0,
  });
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  const nearEnd = last !== undefined && last.index >= count - overscan;
  useEffect(() => {
    if (nearEnd && !moreUnderWay) more?.();
  }, [nearEnd, moreUnderWay, more]);
  const margin = virtual.options.scrollMargin;
  const before = first === undefined ? 0 : first.start - margin;
  const after = last === undefined ? 0 : virtual.getTotalSize() - (last.end - margin);
  return (
    <>
      <Table className={classes["table"]} aria-label={props.label} aria-rowcount={-1}>
        <Table.Thead className={classes["head"]}>
          <Table.Tr>
            {columns.map((column) => (
              <Table.Th key={column.header} w={column.width} className={classOf(column)}>
                {column.header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody ref={body}>
          <Space height={before} columns={columns.length} />
          {rows === undefined && <Waiting columns={columns.length} />}
          {items.map(({ index }) => {
            const row = rows![index]!;
            return (
              <Table.Tr key={keyOf(row)} h={rowHeight} className={classes["row"]}>
                {columns.map((column) => (
                  <Table.Td key={column.header} className={classOf(column)}>
                    {column.cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
          <Space height={after} columns={columns.length} />
        </Table.Tbody>
      </Table>
      {more !== undefined && (
        <Button variant="default" size="xs" mt="sm" loading={moreUnderWay} onClick={more}>
          Show more
        </Button>
      )}
    </>
  );
}
