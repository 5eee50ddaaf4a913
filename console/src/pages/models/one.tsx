/** One model: its parameters, its offers and prices, their health, and code to call it. */
import { Anchor, Group, Table, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Copy } from "../../ui/copy.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Part } from "../../ui/part.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { ApiError } from "../../api/errors.ts";
import { domainText } from "./domains.ts";
import { factsOf } from "./facts.ts";
import type { Model } from "./filters.ts";
import { Offers } from "./offers.tsx";
import { useModelsById } from "./queries.ts";
import { Use } from "./use.tsx";

const route = getRouteApi("/shell/models/$vendor/$");

function Parameters({ model }: { model: Model }) {
  const parameters = Object.entries(model.supported_parameters ?? {});
  return (
    <Part title={`Parameters (${parameters.length})`}>
      {parameters.length === 0 ? (
        <Text>This model cannot be called, so it has no parameters.</Text>
      ) : (
        <SmallTable label="Parameters" headers={["Parameter", "Values"]} minWidth={400}>
          {parameters.map(([name, domain]) => (
            <Table.Tr key={name}>
              <Table.Td className="mono">{name}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{domainText(domain)}</Table.Td>
            </Table.Tr>
          ))}
        </SmallTable>
      )}
    </Part>
  );
}

function Facts({ model }: { model: Model }) {
  return (
    <Table aria-label="Facts" layout="fixed">
      <Table.Tbody>
        {factsOf(model).map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={200}>{name}</Table.Th>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function One({ model }: { model: Model }) {
  return (
    <>
      {model.description !== undefined && <Text mb="md">{model.description}</Text>}
      <Group gap="lg" mb="md">
        {model.kind === "text" && (
          <Anchor
            renderRoot={(props) => (
              <Link to="/start" search={({ ws }) => ({ ws, model: model.id })} {...props} />
            )}
          >
            Code for this model
          </Anchor>
        )}
        <Link to="/requests" search={({ ws }) => ({ ws, model: model.id, period: "7d" })}>
          Its calls of the last 7 days
        </Link>
      </Group>
      <Facts model={model} />
      <Use model={model.id} />
      <Offers model={model} />
      <Parameters model={model} />
    </>
  );
}

export function ModelPage() {
  const { vendor, _splat: rest = "" } = route.useParams();
  // The URL may encode the id's slash as %2F: then the first path segment has the whole id.
  const id = rest === "" ? vendor : `${vendor}/${rest}`;
  const read = useModelsById([id]);
  const [model] = read.data?.data ?? [];
  const isMissing = read.data !== undefined && model === undefined;
  return (
    <Page title={id} aside={<Copy isNamed label="the id" text={() => id} />}>
      {(read.error !== null || isMissing) && (
        <RegionError
          what="model"
          error={read.error ?? new ApiError(404, "")}
          {...(!isMissing && { retry: read.refetch })}
        />
      )}
      <Loading of={[read]} />
      {model !== undefined && <One model={model} />}
    </Page>
  );
}
