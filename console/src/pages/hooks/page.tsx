/** The operator's hooks: which calls each one checks, what happens if it fails, and its last failure. */
import { Table, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api, type Schemas } from "../../api/client.ts";
import { mayAll } from "../../base/rights.ts";
import { readCount } from "../../base/numbers.ts";
import { readAgo, readTime } from "../../base/time.ts";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SmallTable } from "../../ui/small-table.tsx";

type Hook = Schemas["Hooks"]["data"][number];

const headers = ["Hook", "When", "Address", "Calls", "Timeout", "If it fails", "Last failure"];
const wrapped = { overflowWrap: "anywhere", verticalAlign: "top" } as const;

/** The calls that the hook checks. */
function aboutOf({ endpoints, workspaces, keys }: Hook): string {
  const parts = [
    ...(endpoints === null ? [] : [endpoints.join(", ")]),
    ...(workspaces === null ? [] : [`workspaces ${workspaces.join(", ")}`]),
    ...(keys === null ? [] : [`keys ${keys.join(", ")}`]),
  ];
  return parts.length === 0 ? "every call" : parts.join("; ");
}

const ruleOf = ({ on_failure: rule }: Hook): string => {
  if (rule === null) return "nothing: the call has ended";
  return rule === "refuse" ? "the call is refused" : "the call goes on";
};

function LastFailure({ failure }: { failure: Hook["last_failure"] }) {
  if (failure === null) return <span className="ok">none</span>;
  const { at, why, failures, since, request_id: id } = failure;
  return (
    <>
      <span className="bad" title={at}>
        {readAgo(new Date(at))}
      </span>
      : {why}
      <br />
      <span className="muted" title={since}>
        {readCount(failures)} {failures === 1 ? "time" : "times"} since{" "}
        {readTime(new Date(since)).slice(0, -7)};{" "}
      </span>
      <Link to="/requests/$id" params={{ id }} search={({ ws }) => ({ ws })}>
        the call
      </Link>
    </>
  );
}

const Row = ({ hook }: { hook: Hook }) => (
  <Table.Tr>
    <Table.Td style={{ ...wrapped, minWidth: 120 }}>{hook.name}</Table.Td>
    <Table.Td style={wrapped}>{hook.at === "before" ? "before a call" : "after a call"}</Table.Td>
    <Table.Td style={{ ...wrapped, minWidth: 200 }} className="mono">
      {hook.url ?? hook.module}
    </Table.Td>
    <Table.Td style={{ ...wrapped, minWidth: 160 }}>{aboutOf(hook)}</Table.Td>
    <Table.Td style={wrapped} className="number">
      {readCount(hook.timeout_ms)} ms
    </Table.Td>
    <Table.Td style={wrapped}>{ruleOf(hook)}</Table.Td>
    <Table.Td style={wrapped}>
      <LastFailure failure={hook.last_failure} />
    </Table.Td>
  </Table.Tr>
);

export function HooksPage() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const isClosed = me !== undefined && !mayAll(me.rights, "hook.read");
  const { data, error, refetch } = api.useQuery(
    "get",
    "/admin/v1/hooks",
    {},
    { enabled: !isClosed },
  );
  return (
    <Settings title="Hooks" isClosed={isClosed}>
      <Text mb="lg" className="muted">
        Your own checks of calls, in the order in which the gateway asks them. They are in the
        configuration file; a change applies from the next start.
      </Text>
      {error !== null && <RegionError what="hooks" error={error} retry={refetch} />}
      <Loading of={[{ data, error }]} />
      {data?.data.length === 0 && <Text>No hooks are configured.</Text>}
      {data !== undefined && data.data.length > 0 && (
        <SmallTable label="Hooks" headers={headers} minWidth={1000}>
          {data.data.map((hook) => (
            <Row key={hook.name} hook={hook} />
          ))}
        </SmallTable>
      )}
    </Settings>
  );
}
