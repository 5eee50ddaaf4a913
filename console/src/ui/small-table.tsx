/** A short table, rendered whole; if too wide, it scrolls sideways. */
import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import { ScrollBox } from "./scroll-box.tsx";

interface SmallTableProps {
  readonly label: string;
  /** Column headers, from left to right. */
  readonly headers: readonly string[];
  /** The headers of number columns, which are right-aligned. */
  readonly numbers?: readonly string[];
  readonly minWidth?: number;
  /** The rows. */
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
