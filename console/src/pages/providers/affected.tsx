/** The models for which a provider is excluded, and the providers that serve them meanwhile. */
import { Table } from "@mantine/core";
import { ModelLink } from "../../ui/model-link.tsx";
import { Part } from "../../ui/part.tsx";
import { affectedModels, type Model, type Provider } from "./state.ts";

interface AffectedProps {
  readonly provider: Provider;
  readonly models: readonly Model[];
}

export function AffectedTable({ provider, models }: AffectedProps) {
  return (
    <Part title="Affected models">
      <Table aria-label="Affected models">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Model</Table.Th>
            <Table.Th>Served now by</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {affectedModels(provider, models).map(({ model, servedBy }) => (
            <Table.Tr key={model}>
              <Table.Td className="mono">
                <ModelLink id={model} />
              </Table.Td>
              <Table.Td>
                {servedBy.length > 0 ? (
                  servedBy.join(", ")
                ) : (
                  <span className="bad">no provider: its calls fail</span>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Part>
  );
}
