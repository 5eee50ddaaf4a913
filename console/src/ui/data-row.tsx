/** A row of a table: a cell a column, or on a phone two lines of what matters. */
import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./data-table.module.css";

export interface Column<Row> {
  readonly header: string;
  /** In pixels; the one without a width takes what is left. */
  readonly width?: number;
  readonly align?: "right";
  /** Left out on phones, and where there is too little room (fitting.ts), where `phone` does not say otherwise. */
  readonly wide?: true;
  /** Only where there is much room: left out before all others. */
  readonly roomy?: true;
  /**
   * The line it stands in on a phone; of a line the first one takes the room that is left. If absent: the one without a width and
   * the last one stand in the first line, the others in the second.
   */
  readonly phone?: 1 | 2;
  /** What stands before it there, where it says nothing by itself. */
  readonly phoneName?: string;
  cell(row: Row): ReactNode;
}

export const rowHeight = 40;
/** Two lines. */
export const narrowRowHeight = 60;

export const classOf = ({ align }: Column<never>): string =>
  [align === "right" ? classes["right"] : "", "cut"].join(" ");

interface RowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
}

export const WideRow = <Row,>({ columns, row }: RowProps<Row>) => (
  <Table.Tr h={rowHeight} className={classes["row"]}>
    {columns.map((column) => (
      <Table.Td key={column.header} className={classOf(column)}>
        {column.cell(row)}
      </Table.Td>
    ))}
  </Table.Tr>
);

/** The columns of a line on a phone. */
function lineOf<Row>(columns: readonly Column<Row>[], line: 1 | 2): readonly Column<Row>[] {
  const last = columns.at(-1);
  return columns.filter((column) => {
    const { phone, wide, width } = column;
    if (phone !== undefined) return phone === line;
    if (wide === true) return false;
    return (width === undefined || column === last) === (line === 1);
  });
}

export const NarrowRow = <Row,>({ columns, row }: RowProps<Row>) => (
  <Table.Tr h={narrowRowHeight} className={classes["row"]}>
    <Table.Td className={classes["narrow"]}>
      {([1, 2] as const).map((line) => (
        <div key={line} className={classes["line"]}>
          {lineOf(columns, line).map((column) => (
            <span key={column.header} className="cut">
              {column.phoneName !== undefined && `${column.phoneName} `}
              {column.cell(row)}
            </span>
          ))}
        </div>
      ))}
    </Table.Td>
  </Table.Tr>
);
