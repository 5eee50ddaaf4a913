/** One key: usage, settings, and actions. */
import { Group, Tabs, Text } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { keepsShownData } from "../../api/errors.ts";
import { readCache } from "../../base/cache.ts";
import { isolated } from "../../base/isolated.ts";
import { readAgo, readTime } from "../../base/time.ts";
import { KeyStateText } from "../../ui/key-state-text.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { useDisabledWorkspaces, useWorkspaceNames } from "../../ui/workspaces.ts";
import { Caps } from "./caps.tsx";
import { History } from "./history.tsx";
import { Models } from "./models.tsx";
import { KeyActions } from "./actions.tsx";
import { useKey, type Key } from "./queries.ts";
import { useMay } from "./rights.ts";
import { RoutingTab } from "./routing.tsx";
import { Reveal } from "./reveal.tsx";
import { Use } from "./use.tsx";

const route = getRouteApi("/shell/keys/$id");

const tabs = [
  { value: "use", label: "Usage" },
  { value: "caps", label: "Caps and limits" },
  { value: "models", label: "Models" },
  { value: "routing", label: "Routing" },
  { value: "history", label: "History" },
] as const;

type Tab = (typeof tabs)[number]["value"];

/** The key's main facts in one line. */
function Facts({ apiKey }: { apiKey: Key }) {
  const { owner_email: owner, created_at: made, last_used_at: used } = apiKey;
  const workspace = useWorkspaceNames().get(apiKey.workspace_id);
  const isStopped = useDisabledWorkspaces().has(apiKey.workspace_id);
  return (
    <Group gap="lg" mb="lg">
      <span className="mono">
        {apiKey.key_prefix}...{apiKey.key_last4}
      </span>
      <KeyStateText of={apiKey} isStopped={isStopped} />
      <Text>{owner === null ? "no owner" : `owner ${isolated(owner)}`}</Text>
      {workspace !== undefined && (
        <Text style={{ overflowWrap: "anywhere" }}>
          in {isolated(workspace)}
          {isStopped && <span className="bad">, which is disabled</span>}
        </Text>
      )}
      <Text className="muted" title={made}>
        created {readTime(new Date(made))}
      </Text>
      <Text className="muted" title={used ?? undefined}>
        {used === null ? "never used" : `used ${readAgo(new Date(used))}`}
      </Text>
      {apiKey.response_cache !== null && (
        <Text className="muted">{readCache(apiKey.response_cache)}</Text>
      )}
      {apiKey.expires_at !== null && (
        <Text className="muted" title={apiKey.expires_at}>
          expires {readTime(new Date(apiKey.expires_at))}
        </Text>
      )}
    </Group>
  );
}

function Parts({ apiKey }: { apiKey: Key }) {
  const { tab, period, from, to } = route.useSearch();
  const navigate = useNavigate();
  const may = useMay(apiKey);
  const shown = tabs.filter(({ value }) => value !== "history" || may("audit.read"));
  const chosen: Tab = shown.find(({ value }) => value === tab)?.value ?? "use";
  const parts: Readonly<Record<Tab, ReactNode>> = {
    use: (
      <Use
        apiKey={apiKey}
        search={{ ...(period && { period }), ...(from && { from }), ...(to && { to }) }}
      />
    ),
    caps: <Caps apiKey={apiKey} />,
    models: <Models apiKey={apiKey} />,
    routing: <RoutingTab apiKey={apiKey} />,
    history: <History apiKey={apiKey} />,
  };
  const open = (next: string | null) =>
    void navigate({
      to: "/keys/$id",
      params: { id: apiKey.id },
      search: (before) => ({ ...before, tab: next === "use" ? undefined : (next ?? undefined) }),
    });
  return (
    <Tabs value={chosen} onChange={open} keepMounted={false}>
      <Tabs.List mb="lg">
        {shown.map(({ value, label }) => (
          <Tabs.Tab key={value} value={value}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={chosen}>{parts[chosen]}</Tabs.Panel>
    </Tabs>
  );
}

export function KeyPage() {
  const { id } = route.useParams();
  const { data: key, error, refetch } = useKey(id);
  return (
    <Page
      title={key === undefined ? "Key" : `Key ${isolated(key.name)}`}
      aside={key && <KeyActions apiKey={key} />}
    >
      {error !== null && <RegionError what="key" error={error} retry={refetch} />}
      <Loading of={[{ data: key, error }]} />
      {key !== undefined && keepsShownData(error) && (
        <>
          <Facts apiKey={key} />
          <Reveal apiKey={key} />
          <Parts apiKey={key} />
        </>
      )}
    </Page>
  );
}
