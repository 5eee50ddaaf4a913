/** The gateways of this installation: version, load, and when each was last seen. */
import { Table } from "@mantine/core";
import { api, type Schemas } from "../../api/client.ts";
import { readCount, readDuration } from "../../base/numbers.ts";
import { readTime } from "../../base/time.ts";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";
import { useNow } from "../../ui/use-now.ts";
import { useRenewal } from "../../ui/use-renewal.ts";
import { useMay } from "../../ui/use-may.ts";

type Gateway = Schemas["Gateways"]["data"][number];

/** A working gateway reports every ten seconds. */
const silentMs = 30_000;
const mebibyte = 1024 ** 2;

const headers = [
  "Gateway",
  "Version",
  "State",
  "Started",
  "Last report",
  "In flight",
  "Event loop p99",
  "Memory (MiB)",
];
const numbers = headers.slice(5);

function Row(props: { gateway: Gateway; newest: string; now: Date }) {
  const { gateway, newest, now } = props;
  const seen = new Date(gateway.last_seen_at);
  const isSilent = now.getTime() - seen.getTime() > silentMs;
  const time = (text: string) => (
    <span className="number" title={text}>
      {readTime(new Date(text), now)}
    </span>
  );
  return (
    <Table.Tr>
      <Table.Td className="mono">{gateway.id}</Table.Td>
      <Table.Td>
        {gateway.version}
        {gateway.version !== newest && <span className="bad"> differs</span>}
      </Table.Td>
      <Table.Td className={isSilent ? "bad" : "ok"}>{isSilent ? "silent" : "serving"}</Table.Td>
      <Table.Td>{time(gateway.started_at)}</Table.Td>
      <Table.Td>{time(gateway.last_seen_at)}</Table.Td>
      <Table.Td className="number" ta="right">
        {readCount(gateway.in_flight)}
      </Table.Td>
      <Table.Td className="number" ta="right">
        {readDuration(gateway.event_loop_p99_ms)}
      </Table.Td>
      <Table.Td className="number" ta="right">
        {readCount(Math.round(gateway.memory_bytes / mebibyte))}
      </Table.Td>
    </Table.Tr>
  );
}

export function GatewaysPage() {
  const enabled = useMay("gateway.read");
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { data, error, refetch } = api.useQuery("get", "/admin/v1/gateways", {}, { enabled });
  const { queryKey } = api.queryOptions("get", "/admin/v1/gateways", {});
  useRenewal({ topics: ["gateways"], enabled, reads: [queryKey] });
  const now = useNow();
  // The gateway that started last has the target version of an upgrade.
  const newest = data?.data.at(-1)?.version ?? "";
  return (
    <Settings title="Gateways" isClosed={me !== undefined && !enabled}>
      {error !== null && <RegionError what="gateways" error={error} retry={refetch} />}
      <Loading of={[{ data, error }]} />
      {data !== undefined && (
        <SmallTable label="Gateways" headers={headers} numbers={numbers} minWidth={960}>
          {data.data.map((gateway) => (
            <Row key={gateway.id} gateway={gateway} newest={newest} now={now} />
          ))}
        </SmallTable>
      )}
    </Settings>
  );
}
