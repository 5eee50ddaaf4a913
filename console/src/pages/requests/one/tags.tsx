/** The caller's tags and end user of a call, unchanged. */
import { Table } from "@mantine/core";
import { Link } from "@tanstack/react-router";

interface Props {
  readonly tags: Readonly<Record<string, string>> | null;
  readonly endUser: string | null;
}

export function Tags({ tags, endUser }: Props) {
  const rows = Object.entries(tags ?? {}).map(([name, value]) => ({
    name,
    value,
    filter: { tag: `${name}:${value}` } as { readonly tag?: string; readonly user?: string },
  }));
  if (endUser !== null)
    rows.unshift({ name: "end user", value: endUser, filter: { user: endUser } });
  return (
    <Table aria-label="Tags of the caller">
      <Table.Tbody>
        {rows.map(({ name, value, filter }, place) => (
          <Table.Tr key={`${place} ${name}`}>
            <Table.Th className="mono" w={220} style={{ overflowWrap: "anywhere" }}>
              {name}
            </Table.Th>
            <Table.Td className="mono" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
              <Link to="/requests" search={({ ws }) => ({ ws, ...filter })}>
                {value}
              </Link>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
