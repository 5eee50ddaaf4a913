/** The attempts at providers on one time axis; the same numbers stand beside the bars. */
import { Table } from "@mantine/core";
import { readDuration } from "../../../base/numbers.ts";
import type { Attempted } from "./sentence.ts";

interface AttemptsProps {
  readonly attempts: readonly Attempted[];
  readonly durationMs: number;
}

export function Attempts({ attempts, durationMs }: AttemptsProps) {
  const whole = Math.max(durationMs, 1, ...attempts.map((one) => one.started_ms + one.duration_ms));
  const share = (ms: number) => `${Math.min(100, (ms / whole) * 100)}%`;
  return (
    <Table aria-label="Attempts" style={{ tableLayout: "fixed" }}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th w="20%">Provider</Table.Th>
          <Table.Th w="26%">Outcome</Table.Th>
          <Table.Th w="13%">Began</Table.Th>
          <Table.Th w="13%">Took</Table.Th>
          <Table.Th visibleFrom="sm">0 to {readDuration(whole)}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {attempts.map((one) => (
          <Table.Tr key={`${one.provider} ${one.started_ms}`}>
            <Table.Td className="cut">{one.provider}</Table.Td>
            <Table.Td
              title={one.message}
              className={one.outcome === "ok" ? "ok" : "bad"}
              style={{ overflowWrap: "anywhere" }}
            >
              {one.status} {one.outcome}
            </Table.Td>
            <Table.Td className="number">{readDuration(one.started_ms)}</Table.Td>
            <Table.Td className="number">{readDuration(one.duration_ms)}</Table.Td>
            <Table.Td visibleFrom="sm">
              <div
                style={{
                  marginLeft: share(one.started_ms),
                  width: share(one.duration_ms),
                  minWidth: 2,
                  height: 10,
                  background: one.outcome === "ok" ? "var(--series-3)" : "var(--bad)",
                }}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
