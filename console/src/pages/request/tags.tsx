/** What the caller said of a call: tags and their end user, as they came. */
import { Table } from "@mantine/core";

interface Props {
  readonly tags: Readonly<Record<string, string>> | null;
  readonly endUser: string | null;
}

export function Tags({ tags, endUser }: Props) {
  const rows = Object.entries(tags ?? {});
  if (endUser !== null) rows.unshift(["end user", endUser]);
  return (
    <Table aria-label="Said by the caller">
      <Table.Tbody>
        {rows.map(([name, value], place) => (
          <Table.Tr key={`${place} ${name}`}>
            <Table.Th className="mono" w={220} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Table.Th>
            <Table.Td className="mono" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
