/** Previews a call's route; asks again shortly after each change of the form. */
import { Group, Select, Switch, Table, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { exactUsd } from "../../base/money.ts";
import { readMomentsIn } from "../../base/time.ts";
import { RegionError } from "../../ui/region-error.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { searchableSelect } from "../../ui/use-searched.ts";
import { usePreview, type Key } from "./queries.ts";

type Question = Schemas["PreviewRoutingRequest"];
type Answer = NonNullable<ReturnType<typeof usePreview>["data"]>;

const pauseMs = 250;

/** The offers in the order of attempts, then the excluded ones with the reason. */
function Offers({ plan }: { plan: Answer["plan"] }) {
  const nameOf = ({ provider, protocol }: { provider: string; protocol: string }) =>
    `${provider}/${protocol}`;
  const place = (offer: { provider: string; protocol: string }) => {
    const index = plan.order.indexOf(nameOf(offer));
    return index === -1 ? Infinity : index;
  };
  const offers = plan.offers.toSorted((one, other) => place(one) - place(other));
  return (
    <ScrollBox label="Where it would go">
      <Table aria-label="Where it would go">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Provider</Table.Th>
            <Table.Th>Tier</Table.Th>
            <Table.Th ta="right">Price (USD)</Table.Th>
            <Table.Th>In the plan</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {offers.map((offer) => (
            <Table.Tr key={nameOf(offer)}>
              <Table.Td>{nameOf(offer)}</Table.Td>
              <Table.Td>{offer.tier}</Table.Td>
              <Table.Td ta="right">{exactUsd(BigInt(offer.standard_price_nano))}</Table.Td>
              <Table.Td>
                {place(offer) === Infinity ? (
                  <span className="muted">
                    left out: {readMomentsIn(offer.excluded ?? "not needed")}
                  </span>
                ) : (
                  `number ${place(offer) + 1}`
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  );
}

const sources: Readonly<Record<Answer["plan"]["strategy_source"], string>> = {
  request: "named by the request",
  scope: "set by this key or a layer above",
  default: "the default",
};

export function Preview(props: { apiKey: Key; settings: Omit<Question, "key_id" | "model"> }) {
  const { apiKey, settings } = props;
  const models = api.useQuery("get", "/admin/v1/models", {}, { staleTime: 60_000 });
  const choices = (models.data?.data ?? [])
    .filter(({ kind }) => kind === "text" || kind === "embedding")
    .map(({ id }) => id);
  const [chosen, setModel] = useState<string | null>(null);
  const [stream, setStream] = useState(false);
  const model = chosen ?? choices[0];
  const question =
    model === undefined ? undefined : { key_id: apiKey.id, model, stream, ...settings };
  // As text: an object would be a new one on each render.
  const [asked] = useDebouncedValue(question && JSON.stringify(question), pauseMs);
  const body = asked === undefined ? undefined : (JSON.parse(asked) as Question);
  const { data, error, refetch } = usePreview(body);
  return (
    <section className="panel" aria-label="Preview">
      <Title order={2} size="h4" mb="sm">
        Where a call would go now
      </Title>
      <Group align="end" mb="md">
        <Select
          label="Model"
          {...searchableSelect}
          allowDeselect={false}
          limit={100}
          data={choices}
          value={model ?? null}
          onChange={setModel}
        />
        <Switch
          label="Stream"
          checked={stream}
          onChange={({ currentTarget: { checked } }) => setStream(checked)}
        />
      </Group>
      {models.error !== null && (
        <RegionError what="models" error={models.error} retry={models.refetch} />
      )}
      {models.data !== undefined && choices.length === 0 && (
        <Text className="muted">There is no text or embedding model yet.</Text>
      )}
      {error !== null && <RegionError what="preview" error={error} retry={refetch} />}
      {error === null && data !== undefined && (
        <>
          <Text mb="sm">
            {data.plan.strategy}, {sources[data.plan.strategy_source]}. Prices are for 3,000 input
            and 1,000 output tokens.
          </Text>
          {data.refused !== null && (
            <Text className="bad" role="note" mb="sm">
              Such a call is refused: {data.refused.message}
            </Text>
          )}
          <Offers plan={data.plan} />
        </>
      )}
    </section>
  );
}
