/** Changes a workspace: its settings with Undo, its status after typing its name. */
import { client, type Schemas } from "../../api/client.ts";
import { ifMatch } from "../../api/etag.ts";
import { invalidatedPaths } from "../../api/invalidation.ts";
import { capFieldsOf, capsOf } from "../../base/caps.ts";
import { isolated } from "../../base/isolated.ts";
import { limitFieldsOf, limitsOf } from "../../base/limits.ts";
import { previousValues } from "../../base/previous-values.ts";
import { routingOf, type Routing } from "../../base/routing.ts";
import { useChange } from "../../ui/change.ts";
import { confirm } from "../../ui/confirm.tsx";
import { changedFields, useDraft } from "../../ui/draft.ts";

export type Workspace = Schemas["Workspace"];
type Patch = Schemas["ChangeWorkspaceRequest"];

const fieldsOf = (workspace: Workspace) => ({
  name: workspace.name,
  model_allowlist: workspace.model_allowlist as readonly string[],
  routing: workspace.routing as Routing,
  caps: capFieldsOf(workspace.spend_caps),
  limits: limitFieldsOf(workspace.rate_limits),
  credit_line: workspace.credit_line,
  alerts: workspace.alert_webhook_url ?? "",
  thresholds: workspace.alert_thresholds.join(", "),
  low_balance: workspace.low_balance_alert ?? "",
  keep_bodies: workspace.keep_bodies,
  body_retention_days: String(workspace.body_retention_days),
});
type Fields = ReturnType<typeof fieldsOf>;

/** Parses typed numbers, separated by commas or spaces; the API refuses invalid ones. */
const numbersOf = (text: string): number[] =>
  text
    .split(/[\s,%]+/)
    .filter((one) => one !== "")
    .map(Number);

/** The API patch of the changed fields. */
function patchOf(before: Fields, after: Fields): Patch {
  const changed = changedFields(before, after);
  const { caps, limits, routing, alerts, thresholds, model_allowlist, ...rest } = changed;
  const { body_retention_days: days, low_balance: low, ...others } = rest;
  return {
    ...others,
    ...(days !== undefined && { body_retention_days: Number(days) }),
    ...(model_allowlist !== undefined && { model_allowlist: [...model_allowlist] }),
    ...(routing !== undefined && { routing: routingOf(routing) }),
    ...(caps !== undefined && { spend_caps: capsOf(changedFields(before.caps, caps)) }),
    ...(limits !== undefined && { rate_limits: limitsOf(changedFields(before.limits, limits)) }),
    ...(alerts !== undefined && { alert_webhook_url: alerts.trim() === "" ? null : alerts.trim() }),
    ...(low !== undefined && { low_balance_alert: low.trim() === "" ? null : low.trim() }),
    ...(thresholds !== undefined && { alert_thresholds: numbersOf(thresholds) }),
  };
}

const params = (id: string, header: { "If-Match"?: string } = {}) => ({ path: { id }, header });

const read = async (id: string): Promise<Workspace> =>
  (await client.GET("/admin/v1/workspaces/{id}", { params: { path: { id } } })).data!;

const send = async (id: string, body: Patch, header?: { "If-Match"?: string }) =>
  (await client.PATCH("/admin/v1/workspaces/{id}", { params: params(id, header), body })).data!;

/** The state and the change of the settings form. */
export function useSettings(workspace: Workspace) {
  const draft = useDraft(workspace, fieldsOf);
  const { base } = draft;
  const former = (body: Patch, before: Workspace): Patch => {
    const patch = previousValues(before, body);
    return body.routing === undefined ? patch : { ...patch, routing: routingOf(before.routing) };
  };
  const change = useChange({
    base,
    read: () => read(base.id),
    send: (body: Patch, headers) => send(base.id, body, headers.ifMatch),
    invalidates: invalidatedPaths.workspace,
    settled: draft.settle,
    dropped: draft.discard,
    success: "Saved.",
    undo: (after, body, before) => send(base.id, former(body, before), ifMatch(after)),
  });
  const save = () => change.run(patchOf(fieldsOf(base), draft.fields));
  return { draft, change, save };
}

/** Returns a function that disables the workspace after its name is typed, or enables it. */
export function useSwitch({ id, name, status }: Workspace): () => void {
  const isActive = status === "active";
  const change = useChange({
    send: () => send(id, { status: isActive ? "disabled" : "active" }),
    invalidates: invalidatedPaths.workspace,
    success: isActive ? `${isolated(name)} is disabled.` : `${isolated(name)} works again.`,
    // The confirmation dialog shows a refused disabling itself.
    ...(!isActive && { failure: `${isolated(name)} is not enabled.` }),
  });
  return () =>
    isActive
      ? confirm({
          title: "Disable workspace",
          text: "Every call with any of its keys fails at once, until it is enabled again.",
          action: "Disable workspace",
          typed: name,
          run: () => change.runNow({}),
        })
      : change.run({});
}
