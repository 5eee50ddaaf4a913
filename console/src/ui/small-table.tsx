/** A short table, rendered whole. On a phone each row is a block; in a wider window that is too narrow, the table scrolls sideways. */
import { Table } from "@mantine/core";
import type { CSSProperties, ReactNode } from "react";
import { ScrollBox } from "./scroll-box.tsx";
import classes from "./small-table.module.css";

interface SmallTableProps {
  readonly label: string;
  /** Column headers, from left to right; at most eight. */
  readonly headers: readonly string[];
  /** The headers of number columns, which are right-aligned. */
  readonly numbers?: readonly string[];
  /** Widths of columns in pixels, by header. */
  readonly widths?: Readonly<Record<string, number>>;
  readonly minWidth?: number;
  readonly verticalSpacing?: "xs";
  /** The rows. */
  readonly children: ReactNode;
}

/** The headers as texts in CSS, which shows them beside the cells on a phone. Buttons need none. */
const texts = (headers: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    headers.map((header, at) => [
      `--header-${at + 1}`,
      /^Actions?$/.test(header) ? "none" : JSON.stringify(header),
    ]),
  );

export function SmallTable(props: SmallTableProps) {
  const { label, headers, numbers = [], widths = {}, minWidth = 0, children } = props;
  const spacing = props.verticalSpacing !== undefined && { verticalSpacing: props.verticalSpacing };
  const style = { "--least": `${minWidth}px`, ...texts(headers) } as CSSProperties;
  return (
    <ScrollBox label={label}>
      <Table aria-label={label} className={classes["table"]} style={style} {...spacing}>
        <Table.Thead>
          <Table.Tr>
            {headers.map((header) => (
              <Table.Th
                key={header}
                {...(numbers.includes(header) && { ta: "right" })}
                {...(widths[header] !== undefined && { w: widths[header] })}
              >
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </ScrollBox>
  );
}
