/** Entries of the audit log: who did what when, and the changed fields. */
import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client.ts";
import { differencesOf } from "../base/previous-values.ts";
import { readTime } from "../base/time.ts";
import { ScrollBox } from "./scroll-box.tsx";

type Entry = Schemas["AuditEntries"]["data"][number];

/** The changes of an entry, one line a field. */
function Changes({ entry: { before, after } }: { entry: Entry }) {
  const rows = differencesOf(before, after);
  if (rows.length === 0) return <span className="muted">-</span>;
  return (
    <ul style={{ margin: 0, paddingLeft: 16 }}>
      {rows.map(({ field, before: was, after: is }) => (
        <li key={field} style={{ overflowWrap: "anywhere" }}>
          {field}: {before !== null && `${was} → `}
          {is}
        </li>
      ))}
    </ul>
  );
}

interface AuditEntriesProps {
  readonly entries: readonly Entry[];
  /** Renders the object in each row; absent if all entries are of one object. */
  readonly subject?: (entry: Entry) => ReactNode;
  /** Render the actor and the action; plain text if absent. */
  readonly who?: (entry: Entry) => ReactNode;
  readonly what?: (entry: Entry) => ReactNode;
}

const nameOf = ({ actor }: Entry) => actor.name;
const actionOf = ({ action }: Entry) => action;

export function AuditEntries(props: AuditEntriesProps) {
  const { entries, subject, who = nameOf, what = actionOf } = props;
  if (entries.length === 0) return <Text className="muted">No changes yet.</Text>;
  return (
    <ScrollBox label="Audit log">
      <Table
        aria-label="Audit log, newest first"
        verticalSpacing="xs"
        miw={subject === undefined ? 860 : 1000}
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={150}>Time</Table.Th>
            <Table.Th w={190}>Who</Table.Th>
            <Table.Th w={170}>Action</Table.Th>
            {subject !== undefined && <Table.Th w={190}>Of</Table.Th>}
            <Table.Th>Changed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={entry.id} style={{ verticalAlign: "top" }}>
              <Table.Td title={entry.created_at}>{readTime(new Date(entry.created_at))}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{who(entry)}</Table.Td>
              <Table.Td title={entry.request_id ?? ""}>{what(entry)}</Table.Td>
              {subject !== undefined && <Table.Td>{subject(entry)}</Table.Td>}
              <Table.Td>
                <Changes entry={entry} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  );
}
