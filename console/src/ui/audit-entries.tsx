/** Entries of the audit log: who did what when, and the changed fields. */
import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client.ts";
import { isolated } from "../base/isolated.ts";
import { differencesOf } from "../base/previous-values.ts";
import { readTime } from "../base/time.ts";
import { SmallTable } from "./small-table.tsx";

type Entry = Schemas["AuditEntries"]["data"][number];

/** The changes of an entry, one line a field. */
function Changes({ entry: { before, after } }: { entry: Entry }) {
  const rows = differencesOf(before, after);
  if (rows.length === 0) return <span className="muted">-</span>;
  return (
    <ul style={{ margin: 0, paddingLeft: 16 }}>
      {rows.map(({ field, before: was, after: is }) => (
        <li key={field} style={{ overflowWrap: "anywhere" }}>
          {field}: {before !== null && `${isolated(was)} → `}
          {isolated(is)}
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

const headers = ["Time", "Who", "Action", "Of", "Changed"];
const widths = { Time: 150, Who: 190, Action: 170, Of: 190 };

export function AuditEntries(props: AuditEntriesProps) {
  const { entries, subject, who = nameOf, what = actionOf } = props;
  if (entries.length === 0) return <Text className="muted">No changes yet.</Text>;
  return (
    <SmallTable
      label="Audit log, newest first"
      headers={subject === undefined ? headers.filter((one) => one !== "Of") : headers}
      widths={widths}
      minWidth={subject === undefined ? 860 : 1000}
      verticalSpacing="xs"
    >
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
    </SmallTable>
  );
}
