/** The settings of one workspace. */
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { api } from "../../api/client.ts";
import { keepsShownData } from "../../api/errors.ts";
import { isolated } from "../../base/isolated.ts";
import { mayAll } from "../../base/rights.ts";
import { CapsFields } from "../../ui/caps-fields.tsx";
import { LayerFields } from "../../ui/layer-fields.tsx";
import { LimitsFields } from "../../ui/limits-fields.tsx";
import { Loading } from "../../ui/loading.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import { SaveBar } from "../../ui/save-bar.tsx";
import { Settings } from "../../ui/settings.tsx";
import { SpendBars } from "../../ui/spend-bars.tsx";
import { BodyFields } from "./bodies.tsx";
import { useSettings, useSwitch, type Workspace } from "./change.ts";

const route = getRouteApi("/shell/settings/workspaces/$id");
const shownFields = [
  "name",
  "model_allowlist",
  "routing",
  "spend_caps",
  "rate_limits",
  "credit_line",
  "alert_webhook_url",
  "alert_thresholds",
  "low_balance_alert",
  "keep_bodies",
  "body_retention_days",
];

interface FormProps {
  readonly workspace: Workspace;
  readonly may: (action: string) => boolean;
}

interface BoundsProps extends FormProps {
  readonly form: ReturnType<typeof useSettings>;
}

/** The fields of spend caps, rate limits and credit line. */
function Bounds({ workspace, may, form }: BoundsProps) {
  const { fields, set } = form.draft;
  const { at } = form.change;
  const isPersonal = workspace.organization_id === null;
  const mayCap = may("workspace.set_spend_caps") && !isPersonal;
  const mayLimit = may("workspace.set_rate_limits");
  const why = isPersonal
    ? "A personal workspace has no spend caps."
    : "Only an organization admin can set the spend caps of a workspace.";
  return (
    <Stack gap="md">
      <CapsFields
        fields={fields.caps}
        set={(caps) => set({ caps })}
        at={at}
        disabled={!mayCap}
        description={mayCap ? undefined : why}
      />
      <LimitsFields
        fields={fields.limits}
        set={(limits) => set({ limits })}
        at={at}
        disabled={!mayLimit}
        description={
          mayLimit
            ? undefined
            : "Only an organization admin can set the rate limits of a workspace."
        }
      />
      <TextInput
        label="Credit line (USD)"
        description={
          may("workspace.set_credit_line")
            ? "How much it may spend beyond its credits. An amount, or unlimited."
            : "Only an organization admin can set it."
        }
        disabled={!may("workspace.set_credit_line")}
        value={fields.credit_line}
        error={at("credit_line")}
        onChange={({ currentTarget }) => set({ credit_line: currentTarget.value })}
      />
    </Stack>
  );
}

function Form({ workspace, may }: FormProps) {
  const form = useSettings(workspace);
  const { draft, change, save } = form;
  const { fields, set } = draft;
  const { at } = change;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xl" maw={720}>
        <LayerFields fields={fields} set={set} at={at} outOfScope={workspace.out_of_scope_models} />
        <Bounds workspace={workspace} may={may} form={form} />
        <TextInput
          label="Address for alerts"
          description="An HTTPS address. It gets a signed callback for each alert."
          placeholder="none"
          value={fields.alerts}
          error={at("alert_webhook_url")}
          onChange={({ currentTarget }) => set({ alerts: currentTarget.value })}
        />
        <TextInput
          label="Alerts at (% of a cap)"
          description="Up to five numbers, shown as marks on the bars. Empty: no alerts."
          value={fields.thresholds}
          error={at("alert_thresholds")}
          onChange={({ currentTarget }) => set({ thresholds: currentTarget.value })}
        />
        <TextInput
          label="Alert at a balance of (USD)"
          description="Sent when this much or less is left of credits and credit line. Empty: no alert."
          placeholder="none"
          value={fields.low_balance}
          error={at("low_balance_alert")}
          onChange={({ currentTarget }) => set({ low_balance: currentTarget.value })}
        />
        <BodyFields kept={fields.keep_bodies} days={fields.body_retention_days} set={set} at={at} />
        <SaveBar draft={draft} change={change} shown={shownFields} />
      </Stack>
    </form>
  );
}

function StatusSwitch({ workspace }: { workspace: Workspace }) {
  const ask = useSwitch(workspace);
  const isActive = workspace.status === "active";
  return (
    <Button
      variant={isActive ? "outline" : "default"}
      {...(isActive && { color: "var(--bad)" })}
      onClick={ask}
    >
      {isActive ? "Disable" : "Enable"}
    </Button>
  );
}

export function WorkspacePage() {
  const { id } = route.useParams();
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const { data, error, refetch } = api.useQuery("get", "/admin/v1/workspaces/{id}", {
    params: { path: { id } },
  });
  const may = (action: string) => me !== undefined && mayAll(me.rights, action, id);
  return (
    <Settings
      title={data === undefined ? "Workspace" : `Workspace ${isolated(data.name)}`}
      isClosed={data !== undefined && !may("workspace.change")}
      aside={data && may("workspace.set_status") && <StatusSwitch workspace={data} />}
    >
      {error !== null && <RegionError what="workspace" error={error} retry={refetch} />}
      <Loading of={[{ data, error }]} />
      {data !== undefined && keepsShownData(error) && (
        <Stack gap="xl">
          <Group gap="lg">
            <Text className={data.status === "active" ? "ok" : "bad"}>{data.status}</Text>
            <span className="mono">{data.id}</span>
          </Group>
          <Stack gap="md" maw={720}>
            <SpendBars of={data} thresholds={data.alert_thresholds} />
          </Stack>
          <Form key={data.id} workspace={data} may={may} />
        </Stack>
      )}
    </Settings>
  );
}
