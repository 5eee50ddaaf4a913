/** Up to four models side by side, differing rows first. */
import { Table, Text } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { ModelLink } from "../../ui/model-link.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { comparisonOf } from "./comparison.ts";
import { comparedMax, idsOf, type Model } from "./filters.ts";
import { useModelsById } from "./queries.ts";

const route = getRouteApi("/shell/models/compare");

function Compared({ models }: { models: readonly Model[] }) {
  return (
    <ScrollBox label="Comparison">
      <Table aria-label="Comparison" layout="fixed" miw={180 + models.length * 200}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={180}>Differences first</Table.Th>
            {models.map(({ id }) => (
              <Table.Th key={id} style={{ overflowWrap: "anywhere" }}>
                <ModelLink id={id} />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {comparisonOf(models).map(({ name, values, differs }) => (
            <Table.Tr key={name}>
              <Table.Th fw={differs ? 650 : 400} style={{ overflowWrap: "anywhere" }}>
                {name}
              </Table.Th>
              {values.map((value, index) => (
                <Table.Td
                  key={models[index]!.id}
                  className={differs ? "" : "muted"}
                  style={{ overflowWrap: "anywhere" }}
                >
                  {value}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  );
}

export function ComparePage() {
  const { ids: text } = route.useSearch();
  const ids = idsOf(text).slice(0, comparedMax);
  const read = useModelsById(ids);
  const models = ids.flatMap((id) => read.data?.data.find((one) => one.id === id) ?? []);
  const missing = ids.filter((id) => !models.some((one) => one.id === id));
  return (
    <Page title="Compare models">
      {read.error !== null && <RegionError what="models" error={read.error} retry={read.refetch} />}
      {read.data !== undefined && missing.length > 0 && (
        <Text mb="md">There is no {missing.join(", ")}.</Text>
      )}
      {ids.length > 0 && <Loading of={[read]} />}
      {models.length > 0 && <Compared models={models} />}
      {ids.length === 0 && (
        <Text>
          Choose models in <Link to="/models">the list</Link>, in the column Compare.
        </Text>
      )}
    </Page>
  );
}
