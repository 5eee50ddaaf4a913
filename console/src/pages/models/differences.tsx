/** The changes that a model list would make: added and removed models, higher and lower prices. */
import { Table, Text } from "@mantine/core";
import type { Schemas } from "../../api/client.ts";

type Change = Schemas["CatalogChange"];
type Row = Change["added"][number];

const ratesText = (rates: object | null): string =>
  rates === null
    ? "-"
    : Object.entries(rates as Readonly<Record<string, unknown>>)
        .map(
          ([name, value]) =>
            `${name.replaceAll("_", " ")} ${typeof value === "string" ? value : JSON.stringify(value)}`,
        )
        .join(", ");

const shownMax = 200;

function Rows({ title, rows }: { title: string; rows: readonly Row[] }) {
  if (rows.length === 0) return null;
  return (
    <Table aria-label={title} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>
            {title} ({rows.length})
          </Table.Th>
          <Table.Th>Price before</Table.Th>
          <Table.Th>Price after</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.slice(0, shownMax).map(({ model, before, after }) => (
          <Table.Tr key={model}>
            <Table.Td className="mono">{model}</Table.Td>
            <Table.Td className="number">{ratesText(before)}</Table.Td>
            <Table.Td className="number">{ratesText(after)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
      {rows.length > shownMax && <caption>and {rows.length - shownMax} more</caption>}
    </Table>
  );
}

export function Differences({ change }: { change: Change }) {
  const { added, gone, dearer, cheaper, changed } = change;
  const isNothing = [added, gone, dearer, cheaper, changed].every((list) => list.length === 0);
  return (
    <section aria-label="What would change">
      {isNothing && <Text>It changes nothing.</Text>}
      <Rows title="Added" rows={added} />
      <Rows title="Removed" rows={gone} />
      <Rows title="More expensive" rows={dearer} />
      <Rows title="Cheaper" rows={cheaper} />
      {changed.length > 0 && (
        <Text mt="sm" style={{ overflowWrap: "anywhere" }}>
          Otherwise changed ({changed.length}): {changed.slice(0, shownMax).join(", ")}
        </Text>
      )}
    </section>
  );
}
