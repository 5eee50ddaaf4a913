/** Spend caps that were nearly or fully reached. */
import { Table, Text } from "@mantine/core";
import { Link, useSearch } from "@tanstack/react-router";
import { api, client, type Schemas } from "../../api/client.ts";
import { isolated } from "../../base/isolated.ts";
import { mayAll } from "../../base/rights.ts";
import { readTime } from "../../base/time.ts";
import { Money } from "../../ui/money.tsx";
import { More } from "../../ui/more.tsx";
import { usePages } from "../../ui/pages.ts";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";

type Alert = Schemas["SpendAlerts"]["data"][number];

const useAlerts = (ws: string | undefined) =>
  usePages({
    key: ["get", "/admin/v1/alerts", { ws }, "pages"],
    async read(cursor, signal) {
      const query = { limit: "50", workspace_id: ws, cursor };
      return (await client.GET("/admin/v1/alerts", { params: { query }, signal })).data!;
    },
  });

/** The owner of the cap; a key links to its caps. */
function Of({ alert: { layer, layer_id: id, name } }: { alert: Alert }) {
  const text = `${layer} ${isolated(name ?? id)}`;
  if (layer !== "key") return text;
  return (
    <Link to="/keys/$id" params={{ id }} search={({ ws }) => ({ ws, tab: "caps" })}>
      {text}
    </Link>
  );
}

function Row({ alert }: { alert: Alert }) {
  const { threshold } = alert;
  return (
    <Table.Tr>
      <Table.Td title={alert.created_at}>
        {readTime(new Date(alert.created_at)).slice(0, -7)}
      </Table.Td>
      <Table.Td style={{ overflowWrap: "anywhere" }}>
        <Of alert={alert} />
      </Table.Td>
      <Table.Td>{alert.window}</Table.Td>
      <Table.Td className={threshold >= 100 ? "bad" : ""}>
        {alert.refused ? "refused a call" : threshold >= 100 ? "reached" : `${threshold} %`}
      </Table.Td>
      <Table.Td>
        <Money amount={alert.spent} exact />
      </Table.Td>
      <Table.Td>
        <Money amount={alert.cap} exact />
      </Table.Td>
    </Table.Tr>
  );
}

const headers = ["Time", "Cap of", "Period", "Share", "Spent (USD)", "Cap (USD)"];

export function AlertsPage() {
  const { ws } = useSearch({ from: "/shell" });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const query = useAlerts(ws);
  const alerts = query.data?.pages.flatMap(({ data }) => data);
  return (
    <Settings
      title="Alerts"
      isClosed={me !== undefined && !mayAll(me.rights, "workspace.change", ws)}
    >
      <Text mb="lg" className="muted">
        Alerts are sent when a spend cap is nearly or fully used. The settings of the workspace have
        the percentages and the address.
      </Text>
      {query.error !== null && (
        <RegionError what="alerts" error={query.error} retry={query.refetch} />
      )}
      <Loading of={[query]} />
      {alerts?.length === 0 && <Text>No alerts yet.</Text>}
      {alerts !== undefined && alerts.length > 0 && (
        <SmallTable label="Alerts, newest first" minWidth={640} headers={headers}>
          {alerts.map((alert) => (
            <Row key={alert.id} alert={alert} />
          ))}
        </SmallTable>
      )}
      <More next={query} />
    </Settings>
  );
}
