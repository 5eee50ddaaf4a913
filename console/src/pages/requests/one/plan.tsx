/** The plan: possible offers in the order of attempts, and why others were excluded. */
import { Table, Text } from "@mantine/core";
import { exactUsd } from "../../../base/money.ts";
import { readMomentsIn } from "../../../base/time.ts";
import { isAnswered, type Attempted } from "./sentence.ts";

interface Offer {
  readonly provider: string;
  readonly protocol?: string;
  readonly tier?: string;
  /** The price of 3,000 tokens in and 1,000 out, in nano-USD. */
  readonly standard_price_nano?: string;
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

/** The offers in the planned order, then the excluded ones. */
const inOrder = (plan: Plan): Offer[] => {
  const rank = (offer: Offer) => {
    const place = offer.excluded === undefined ? placeOf(plan, offer) : -1;
    return place === -1 ? Infinity : place;
  };
  return (plan.offers ?? []).toSorted((one, other) =>
    rank(one) === rank(other) ? 0 : rank(one) - rank(other),
  );
};

/** The result of an offer: its place, and its provider's outcome. */
function verdictOf(plan: Plan, offer: Offer, attempts: readonly Attempted[]): string {
  const place = placeOf(plan, offer);
  if (offer.excluded !== undefined) return `left out: ${readMomentsIn(offer.excluded)}`;
  if (place === -1) return "left out";
  const last = attempts.findLast(({ provider }) => provider === offer.provider);
  const number = `number ${place + 1}`;
  if (last === undefined) return `${number}, not tried`;
  return isAnswered(last) ? `${number}, answered` : `${number}, failed`;
}

const priceOf = ({ standard_price_nano: nano }: Offer) =>
  nano !== undefined && /^\d+$/.test(nano) ? exactUsd(BigInt(nano)) : "-";

interface PlanTableProps {
  readonly plan: Plan;
  readonly attempts: readonly Attempted[];
}

export function PlanTable({ plan, attempts }: PlanTableProps) {
  const isPriced = plan.offers?.some((offer) => offer.standard_price_nano !== undefined) === true;
  return (
    <>
      <Text mb="sm" className="muted">
        Ordered by {plan.strategy ?? "one rule"}, from the {plan.strategy_source ?? "default"}.
      </Text>
      <Table aria-label="Plan">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Provider</Table.Th>
            <Table.Th visibleFrom="sm">Protocol</Table.Th>
            <Table.Th visibleFrom="sm">Tier</Table.Th>
            {isPriced && <Table.Th ta="right">Price (USD) *</Table.Th>}
            <Table.Th>In the plan</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {inOrder(plan).map((offer) => (
            <Table.Tr key={`${offer.provider} ${offer.protocol}`}>
              <Table.Td>
                {offer.provider}
                <Text size="xs" className="muted" hiddenFrom="sm">
                  {[offer.protocol, offer.tier].filter((one) => one !== undefined).join(", ")}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">{offer.protocol}</Table.Td>
              <Table.Td visibleFrom="sm">{offer.tier}</Table.Td>
              {isPriced && (
                <Table.Td className="number" ta="right">
                  {priceOf(offer)}
                </Table.Td>
              )}
              <Table.Td>{verdictOf(plan, offer, attempts)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {isPriced && (
        <Text size="sm" mt="sm" className="muted">
          * for 3,000 input and 1,000 output tokens, at the prices of that time.
        </Text>
      )}
    </>
  );
}
