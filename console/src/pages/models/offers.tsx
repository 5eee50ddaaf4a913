/** The offers of a model: price with tiers and dates, and health and speed as measured by the gateway that answered. */
import { Group, Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { readCount, readDuration } from "../../base/numbers.ts";
import { readMoment } from "../../base/time.ts";
import { Part } from "../../ui/part.tsx";
import type { Model } from "./filters.ts";
import { priceBlocks, type PriceBlock } from "./prices.ts";

type Offer = Model["offers"][number];

function State({ offer }: { offer: Offer }) {
  const { health, paused_until: paused } = offer;
  if (paused !== null)
    return <span className="warn">paused until {readMoment(new Date(paused))}</span>;
  if (health === null) return <span className="muted">unknown</span>;
  if (health.state === "out") return <span className="bad">out: {health.reason}</span>;
  return <span className="ok">{health.state === "due" ? "ready, to be probed" : "ready"}</span>;
}

/** The offer's recent speed; empty without measurements. */
function Speed({ health }: Offer) {
  if (health === null) return null;
  const { stream, whole, failure_share: share } = health;
  const facts = [
    stream.first_token_ms === null
      ? undefined
      : `first token after ${readDuration(stream.first_token_ms)}`,
    stream.tokens_per_second === null
      ? undefined
      : `${readCount(Math.round(stream.tokens_per_second))} tokens a second`,
    whole.tokens_per_second === null
      ? undefined
      : `${readCount(Math.round(whole.tokens_per_second))} tokens a second without streaming`,
    share === 0 ? undefined : `${(share * 100).toFixed(1)} % of recent calls failed`,
  ].filter((fact) => fact !== undefined);
  return <span className="muted">{facts.join(", ")}</span>;
}

const Block = ({ block }: { block: PriceBlock }) => (
  <>
    {block.when !== undefined && (
      <Table.Tr>
        <Table.Th colSpan={3} fw={500}>
          {block.when}
        </Table.Th>
      </Table.Tr>
    )}
    {block.lines.map(({ name, amount, per }) => (
      <Table.Tr key={name}>
        <Table.Td>{name}</Table.Td>
        <Table.Td className="number" ta="right">
          {amount}
        </Table.Td>
        <Table.Td>{per}</Table.Td>
      </Table.Tr>
    ))}
  </>
);

function OfferPart({ offer }: { offer: Offer }) {
  const { provider, protocol, tier, upstream_model: upstream, record } = offer;
  return (
    <Part title={`At ${provider}${protocol === undefined ? "" : `, ${protocol}`}`}>
      <Group gap="lg" mb="sm">
        <State offer={offer} />
        <Speed {...offer} />
        <span>{tier}</span>
        {upstream !== undefined && <span className="mono">{upstream}</span>}
        <Link to="/providers/$id" params={{ id: provider }} search={({ ws }) => ({ ws })}>
          Provider
        </Link>
      </Group>
      <Table aria-label={`Price at ${provider}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Item</Table.Th>
            <Table.Th w={140} ta="right">
              USD
            </Table.Th>
            <Table.Th w={180}>for</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {priceBlocks(offer).map((block) => (
            <Block key={block.when ?? "now"} block={block} />
          ))}
        </Table.Tbody>
      </Table>
      {record !== undefined && (
        <Text mt="sm" className="mono" aria-label="Different here" role="note">
          {JSON.stringify(record)}
        </Text>
      )}
    </Part>
  );
}

export function Offers({ model }: { model: Model }) {
  return (
    <>
      {model.offers.map((offer, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- two offers of a provider may differ in nothing that is shown
        <OfferPart key={`${offer.provider} ${offer.protocol} ${index}`} offer={offer} />
      ))}
      <Text mt="sm" size="sm" className="muted">
        Health and speed are measured by the gateway that answered this page, from its own calls.
      </Text>
    </>
  );
}
