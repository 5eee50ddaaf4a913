/** Who could have answered, in which order they were to be asked, and why others were left out. */
import { Table, Text } from "@mantine/core";

interface Offer {
  readonly provider: string;
  readonly protocol?: string;
  readonly tier?: string;
  readonly excluded?: string;
}

export interface Plan {
  readonly strategy?: string;
  readonly strategy_source?: string;
  readonly offers?: readonly Offer[];
  readonly order?: readonly string[];
}

const placeOf = (plan: Plan, { provider, protocol }: Offer): number =>
  (plan.order ?? []).indexOf(protocol === undefined ? provider : `${provider}/${protocol}`);

/** In the order in which they were to be asked, and then those that were left out. */
const inOrder = (plan: Plan): Offer[] => {
  const rank = (offer: Offer) => {
    const place = offer.excluded === undefined ? placeOf(plan, offer) : -1;
    return place === -1 ? Infinity : place;
  };
  return (plan.offers ?? []).toSorted((one, other) =>
    rank(one) === rank(other) ? 0 : rank(one) - rank(other),
  );
};

const verdictOf = (plan: Plan, offer: Offer): string => {
  const place = placeOf(plan, offer);
  if (offer.excluded !== undefined) return `left out: ${offer.excluded}`;
  return place === -1 ? "left out" : `number ${place + 1}`;
};

export function PlanTable({ plan }: { plan: Plan }) {
  return (
    <>
      <Text mb="sm" className="muted">
        Ordered by {plan.strategy ?? "one rule"}, from the {plan.strategy_source ?? "default"}.
      </Text>
      <Table aria-label="Plan">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Provider</Table.Th>
            <Table.Th>Protocol</Table.Th>
            <Table.Th>Tier</Table.Th>
            <Table.Th>In the plan</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {inOrder(plan).map((offer) => (
            <Table.Tr key={`${offer.provider} ${offer.protocol}`}>
              <Table.Td>{offer.provider}</Table.Td>
              <Table.Td>{offer.protocol}</Table.Td>
              <Table.Td>{offer.tier}</Table.Td>
              <Table.Td>{verdictOf(plan, offer)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </>
  );
}
