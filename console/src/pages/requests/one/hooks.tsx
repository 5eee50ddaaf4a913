/** The outcomes of the operator's hooks for a call, in order. docs/hooks.md. */
import { Table } from "@mantine/core";

export interface Hooked {
  readonly hook: string;
  readonly outcome: string;
  /** The hook's code of its refusal: `x-gw-hook-code` of the answer. */
  readonly code?: string;
}

const words: Readonly<Record<string, readonly [text: string, tone: string]>> = {
  allowed: ["allowed it", "ok"],
  changed: ["changed it", "warn"],
  refused: ["refused it", "bad"],
  failed: ["gave no answer", "bad"],
};

export const HooksTable = ({ hooks }: { hooks: readonly Hooked[] }) => (
  <Table aria-label="Hooks">
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Hook</Table.Th>
        <Table.Th>What it did</Table.Th>
        <Table.Th>Code</Table.Th>
      </Table.Tr>
    </Table.Thead>
    <Table.Tbody>
      {hooks.map(({ hook, outcome, code }, place) => {
        const [text, tone] = words[outcome] ?? [outcome, ""];
        return (
          <Table.Tr key={`${place} ${hook}`}>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{hook}</Table.Td>
            <Table.Td className={tone}>{text}</Table.Td>
            <Table.Td className="mono">{code ?? <span className="muted">-</span>}</Table.Td>
          </Table.Tr>
        );
      })}
    </Table.Tbody>
  </Table>
);
