/** The changes of a request before it was sent on, field by field. */
import { Table } from "@mantine/core";
import type { Schemas } from "../../../api/client.ts";

type Change = Schemas["RequestRow"]["changes"][number];

export const Changes = ({ changes }: { changes: readonly Change[] }) => (
  <Table aria-label="Changed parameters">
    <Table.Thead>
      <Table.Tr>
        <Table.Th w="30%">Field</Table.Th>
        <Table.Th w={90}>Change</Table.Th>
        <Table.Th>Why</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {changes.map(({ param, action, note }) => (
        <Table.Tr key={`${param} ${note}`}>
          <Table.Td className="mono">{param}</Table.Td>
          <Table.Td>{action}</Table.Td>
          <Table.Td style={{ overflowWrap: "anywhere" }}>{note}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
);
