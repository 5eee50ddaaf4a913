/** A table row: one cell a column, or on phones two lines of the main columns. */
import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./data-table.module.css";

export interface Column<Row> {
  readonly header: string;
  /** In pixels; the column without a width takes the rest. */
  readonly width?: number;
  readonly align?: "right";
  /** Left out on phones, unless `phone` is set, and where there is too little room (fitting.ts). */
  readonly wide?: true;
  /** Needs much room: left out before all others. */
  readonly roomy?: true;
  /**
   * The line of the column on a phone; the first column of a line takes the remaining room. If absent, the column without a width and
   * the last one go to line 1, the others to line 2.
   */
  readonly phone?: 1 | 2;
  /** A label before the value on phones, if it needs one. */
  readonly phoneName?: string;
  cell(row: Row): ReactNode;
}

export const rowHeight = 40;
/** The height of two lines. */
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

/** The columns of one line on a phone. */
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
