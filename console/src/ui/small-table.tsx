/** A short table, all of which is in the page; where it is wider than that, it scrolls by itself. */
import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import { ScrollBox } from "./scroll-box.tsx";

interface SmallTableProps {
  readonly label: string;
  /** Of the columns, from left to right. */
  readonly headers: readonly string[];
  /** Those of them above numbers, which end where their numbers do. */
  readonly numbers?: readonly string[];
  readonly minWidth?: number;
  /** Rows. */
  readonly children: ReactNode;
}

export function SmallTable({ label, headers, numbers = [], minWidth, children }: SmallTableProps) {
  return (
    <ScrollBox label={label}>
      <Table aria-label={label} {...(minWidth !== undefined && { miw: minWidth })}>
        <Table.Thead>
          <Table.Tr>
            {headers.map((header) => (
              <Table.Th key={header} {...(numbers.includes(header) && { ta: "right" })}>
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
