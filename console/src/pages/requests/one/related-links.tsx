/** Links from a call to its key, its ledger entry, its task, and similar calls. */
import { Group } from "@mantine/core";
import { Link, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../../../api/client.ts";
import { keyLabel } from "../../../base/key-label.ts";
import { mayAll } from "../../../base/rights.ts";
import { Copy } from "../../../ui/copy.tsx";

const aroundMs = 5 * 60_000;

/** The time span around a call, five minutes each way. */
function around(at: string): { readonly from: string; readonly to: string } {
  const ms = Date.parse(at);
  const [from, to] = [ms - aroundMs, ms + aroundMs].map((one) => new Date(one).toISOString());
  return { from: from!, to: to! };
}

export function RelatedLinks({ row }: { row: Schemas["RequestRow"] }) {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { id, key_id: key, workspace_id: workspace, ledger_entry_id: entry } = row;
  const { ws } = useSearch({ from: "/shell" });
  const maySeeLedger = me !== undefined && mayAll(me.rights, "ledger.read", workspace);
  return (
    <Group gap="lg" mt="sm">
      {key !== null && (
        <Link
          to="/keys/$id"
          params={{ id: key }}
          search={({ ws }) => ({ ws })}
          style={{ overflowWrap: "anywhere" }}
        >
          {row.key_name === null ? "Key" : `Key ${keyLabel(row.key_name, row.key_last4)}`}
        </Link>
      )}
      {row.error !== null && (
        <Link to="/requests" search={{ ws, code: row.error.code, period: "7d" }}>
          Others with this error
        </Link>
      )}
      <Link to="/requests" search={{ ws, ...around(row.created_at) }}>
        Calls at this time
      </Link>
      {id.startsWith("task_") && (
        <Link to="/tasks/$id" params={{ id }} search={({ ws }) => ({ ws })}>
          Task
        </Link>
      )}
      {entry !== null && maySeeLedger && (
        <Link to="/money/ledger" search={{ ws: workspace, reference: id }}>
          Ledger entry
        </Link>
      )}
      {entry !== null && <Copy isNamed label="the entry's id" text={() => entry} />}
    </Group>
  );
}
