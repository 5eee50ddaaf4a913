/** The columns of the list of keys. */
import { Link } from "@tanstack/react-router";
import { readAgo } from "../../base/time.ts";
import { CapBar } from "../../ui/cap-bar.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { KeyStateText } from "../../ui/key-state-text.tsx";
import type { Key } from "./queries.ts";

const nothing = <span className="muted">-</span>;

const capOf = (key: Key, window: "daily" | "monthly") => ({
  cap: key.spend_caps[window],
  spent: key.spend[window],
  remaining: key.remaining[window],
  resetsAt: key.resets_at[window],
});

const statusOf = (disabled: ReadonlySet<string>): Column<Key> => ({
  header: "Status",
  width: 100,
  cell: (key) => <KeyStateText of={key} isStopped={disabled.has(key.workspace_id)} />,
});

/** `names`: workspace names by id; `disabled`: ids of disabled workspaces. The workspace column is left out if all keys are of one workspace. */
export const columnsOf = (
  names: ReadonlyMap<string, string>,
  disabled: ReadonlySet<string>,
  isOfAll: boolean,
): readonly Column<Key>[] => [
  {
    header: "Name",
    cell: (key) => (
      <Link to="/keys/$id" params={{ id: key.id }} search={({ ws }) => ({ ws })}>
        {key.name}
      </Link>
    ),
  },
  {
    header: "Key",
    width: 160,
    wide: true,
    cell: (key) => (
      <span className="mono">
        {key.key_prefix}...{key.key_last4}
      </span>
    ),
  },
  ...(isOfAll && names.size > 1
    ? [
        {
          header: "Workspace",
          width: 140,
          wide: true,
          roomy: true,
          cell: (key: Key) => names.get(key.workspace_id) ?? nothing,
        } as const,
      ]
    : []),
  { header: "Owner", width: 170, wide: true, cell: (key) => key.owner_email ?? nothing },
  statusOf(disabled),
  {
    header: "Today (USD)",
    width: 160,
    align: "right",
    wide: true,
    cell: (key) => <CapBar label="Spend today" short {...capOf(key, "daily")} />,
  },
  {
    header: "This month (USD)",
    width: 160,
    align: "right",
    phoneName: "USD this month",
    cell: (key) => <CapBar label="Spend this month" short {...capOf(key, "monthly")} />,
  },
  {
    header: "Last used",
    width: 120,
    wide: true,
    cell: ({ last_used_at: at }) =>
      at === null ? nothing : <span title={at}>{readAgo(new Date(at))}</span>,
  },
];
