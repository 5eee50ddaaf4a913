/** The price of a call line by line. The gateway ensures that the amounts add up to the charge exactly. */
import { Table, Text } from "@mantine/core";
import { groupedDecimal } from "../../../base/money.ts";
import type { Schemas } from "../../../api/client.ts";

type Line = NonNullable<Schemas["RequestRow"]["price_lines"]>[number];

const units: Readonly<Record<Line["per"], string>> = {
  million_tokens: "a million tokens",
  image: "an image",
  second: "a second",
  request: "a call",
  search: "a search",
  item: "each",
};

const right = { textAlign: "right" } as const;

function LineRow({ name, quantity, unit_price: price, per, amount }: Line) {
  // A balancing line that makes the sum equal the charge: it has no unit price.
  const isRest = name === "rounding" || name === "limit";
  const priced = isRest ? "" : `${price} ${units[per]}`;
  return (
    <Table.Tr>
      <Table.Td className="cut">
        {name.replaceAll("_", " ")}
        <Text size="xs" className="muted" hiddenFrom="sm">
          {priced}
        </Text>
      </Table.Td>
      <Table.Td className="number" style={right}>
        {isRest ? "" : groupedDecimal(quantity)}
      </Table.Td>
      <Table.Td className="number" style={right} visibleFrom="sm">
        {priced}
      </Table.Td>
      <Table.Td className="number" style={right}>
        {amount}
      </Table.Td>
    </Table.Tr>
  );
}

/** `from`: the source of the prices, as in the API. */
export function Price(props: {
  lines: readonly Line[] | null;
  from: Schemas["RequestRow"]["price_lines_from"];
  cost: string;
}) {
  const { lines, from, cost } = props;
  if (lines === null) {
    return (
      <Text>
        {cost} USD were charged. The price lines are unknown: this call is older than stored prices,
        and the catalogue has another price now.
      </Text>
    );
  }
  return (
    <>
      <Lines lines={lines} cost={cost} />
      {from === "catalog" && (
        <Text size="sm" className="muted">
          Shown with today&apos;s price, which gives the same sum. No price was stored with this
          call.
        </Text>
      )}
    </>
  );
}

function Lines({ lines, cost }: { lines: readonly Line[]; cost: string }) {
  return (
    <Table aria-label="Price">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Item</Table.Th>
          <Table.Th style={right}>Quantity</Table.Th>
          <Table.Th style={right} visibleFrom="sm">
            USD for
          </Table.Th>
          <Table.Th style={right}>USD</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {lines.map((line) => (
          <LineRow key={line.name} {...line} />
        ))}
      </Table.Tbody>
      <Table.Tfoot>
        <Table.Tr>
          <Table.Th>Charged</Table.Th>
          <Table.Td />
          <Table.Td visibleFrom="sm" />
          <Table.Th className="number" style={right}>
            {cost}
          </Table.Th>
        </Table.Tr>
      </Table.Tfoot>
    </Table>
  );
}
