/** The attempts at providers on a time axis, with the numbers beside the bars. */
import { Table } from "@mantine/core";
import { readDuration } from "../../../base/numbers.ts";
import { attemptStartMs, isAnswered, type Attempted } from "./sentence.ts";

interface AttemptsProps {
  readonly attempts: readonly Attempted[];
  /** The start of the call, and its duration. */
  readonly callAt: string;
  readonly durationMs: number;
}

/** The durations of a task's attempts are unknown. */
export function Attempts({ attempts, callAt, durationMs }: AttemptsProps) {
  const ends = attempts.map((one) => attemptStartMs(one, callAt) + (one.duration_ms ?? 0));
  const whole = Math.max(durationMs, 1, ...ends);
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
          <Table.Tr key={`${one.provider} ${one.started_ms ?? one.started_at}`}>
            <Table.Td className="cut">{one.provider}</Table.Td>
            <Table.Td
              title={one.message}
              className={isAnswered(one) ? "ok" : "bad"}
              style={{ overflowWrap: "anywhere" }}
            >
              {one.status} {one.outcome}
            </Table.Td>
            <Table.Td className="number">{readDuration(attemptStartMs(one, callAt))}</Table.Td>
            <Table.Td className="number">
              {one.duration_ms === undefined ? "-" : readDuration(one.duration_ms)}
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <div
                className="own-colours"
                style={{
                  marginLeft: share(attemptStartMs(one, callAt)),
                  width: share(one.duration_ms ?? 0),
                  minWidth: 2,
                  height: 10,
                  background: isAnswered(one) ? "var(--series-3)" : "var(--bad)",
                }}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
