/** The columns of the ledger. All amounts have nine decimals, aligned at the point. */
import { Link } from "@tanstack/react-router";
import { fullUsd, parseUsd } from "../../base/money.ts";
import { readTime } from "../../base/time.ts";
import type { Column } from "../../ui/data-table.tsx";
import { callOf } from "./filters.ts";
import type { Entry } from "./queries.ts";

const nothing = <span className="muted">-</span>;

/** The balance change of an entry: charges reduce it. */
function changeOf({ kind, amount }: Pick<Entry, "kind" | "amount">): bigint {
  const nano = parseUsd(amount);
  return kind === "charge" ? -nano : nano;
}

function Reference({ entry }: { entry: Entry }) {
  const id = callOf(entry.reference);
  if (id === undefined) return <span title={entry.reference}>{entry.note ?? entry.reference}</span>;
  return (
    <Link
      className="mono"
      to="/requests/$id"
      params={{ id }}
      search={({ ws }) => ({ ws })}
      title={entry.reference}
    >
      {entry.reference}
    </Link>
  );
}

/** `names`: key names by id. */
export const columnsOf = (
  names: ReadonlyMap<string, string>,
  now: Date,
): readonly Column<Entry>[] => [
  { header: "Reference", phone: 1, cell: (entry) => <Reference entry={entry} /> },
  {
    header: "Time",
    width: 180,
    phone: 2,
    cell: (entry) => (
      <span className="number" title={entry.created_at}>
        {readTime(new Date(entry.created_at), now)}
      </span>
    ),
  },
  { header: "Kind", width: 80, phone: 2, cell: ({ kind }) => kind },
  {
    header: "Key",
    width: 140,
    wide: true,
    cell: ({ key_id: key }) => (key === null ? nothing : (names.get(key) ?? key)),
  },
  {
    header: "Amount (USD)",
    width: 160,
    align: "right",
    phone: 1,
    phoneName: "USD",
    cell: (entry) => <span className="number">{fullUsd(changeOf(entry))}</span>,
  },
  {
    header: "Balance (USD)",
    width: 170,
    align: "right",
    phone: 2,
    phoneName: "balance",
    cell: (entry) => <span className="number">{fullUsd(parseUsd(entry.balance_after))}</span>,
  },
];
