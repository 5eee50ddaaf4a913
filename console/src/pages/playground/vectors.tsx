/** Shows vectors: their length, first numbers, and pairwise similarity. */
import { Table, Text } from "@mantine/core";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { cosine } from "./similarity.ts";

const shownNumbers = 4;
const comparedMax = 8;

interface VectorsProps {
  readonly vectors: readonly (readonly number[])[];
  readonly inputs: readonly string[];
}

export function Vectors({ vectors, inputs }: VectorsProps) {
  const compared = vectors.slice(0, comparedMax);
  return (
    <>
      <Text size="sm" my="sm">
        {vectors.length} vectors of {vectors[0]!.length} numbers. Beside each other: the cosine of
        two texts.
      </Text>
      <ScrollBox label="Vectors">
        <Table aria-label="Vectors">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Text</Table.Th>
              <Table.Th>Begins</Table.Th>
              {compared.map((_, index) => (
                <Table.Th key={String(index)} ta="right">
                  {index + 1}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {compared.map((vector, row) => (
              <Table.Tr key={String(row)}>
                <Table.Td style={{ overflowWrap: "anywhere" }}>
                  {row + 1}. {inputs[row]}
                </Table.Td>
                <Table.Td className="number">
                  {vector
                    .slice(0, shownNumbers)
                    .map((value) => value.toFixed(3))
                    .join(", ")}
                </Table.Td>
                {compared.map((other, index) => (
                  <Table.Td key={String(index)} ta="right" className="number">
                    {cosine(vector, other).toFixed(3)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollBox>
    </>
  );
}
