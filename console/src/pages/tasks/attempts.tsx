/** The attempts of a task: provider, time and outcome. */
import { Table } from "@mantine/core";
import { readTime } from "../../base/time.ts";
import { Part } from "../../ui/part.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import type { Task } from "./filters.ts";

interface Attempted {
  readonly provider: string;
  readonly outcome: string;
  readonly status?: number;
  readonly started_at: string;
  readonly credential?: string;
  readonly message?: string;
}

export function Attempts({ task }: { task: Task }) {
  const attempts = task.attempts as unknown as readonly Attempted[];
  if (attempts.length === 0) return null;
  return (
    <Part title="Attempts">
      <SmallTable
        label="Attempts"
        headers={["Time", "Provider", "Outcome", "Message of the vendor"]}
        minWidth={560}
      >
        {attempts.map((one) => (
          <Table.Tr key={`${one.provider} ${one.started_at}`}>
            <Table.Td title={one.started_at}>
              {readTime(new Date(one.started_at), new Date(task.created_at))}
            </Table.Td>
            <Table.Td>
              {one.provider}
              {one.credential !== undefined && (
                <span className="muted">, key {one.credential}</span>
              )}
            </Table.Td>
            <Table.Td className={one.outcome === "succeeded" ? "ok" : ""}>
              {one.status} {one.outcome}
            </Table.Td>
            <Table.Td style={{ overflowWrap: "anywhere" }}>{one.message ?? "-"}</Table.Td>
          </Table.Tr>
        ))}
      </SmallTable>
    </Part>
  );
}
