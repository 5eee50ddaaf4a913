/** The operator's hooks over the management API: their settings, the calls they see, and their last failure. docs/hooks.md. */
import { permit } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import type { HookSettings } from "../../catalog/index.ts";
import { listHookFailures, type HookFailures } from "../../storage/index.ts";
import { oneOf, orNull, timestamp } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { fullListSchema, strict, fullList } from "./schemas.ts";

const all = (what: string) =>
  orNull(Type.Array(Type.String(), { description: `${what}; null: all.` }));

const hook = Type.Object({
  name: Type.String(),
  at: oneOf("before", "after"),
  url: orNull(
    Type.String({ description: "The hook's address, without its query; null: a module." }),
  ),
  module: orNull(Type.String({ description: "The hook's file; null: an address." })),
  endpoints: all("The endpoints whose calls it checks"),
  workspaces: all("The workspaces whose calls it checks"),
  keys: all("The keys whose calls it checks"),
  timeout_ms: Type.Integer(),
  on_failure: orNull(oneOf("refuse", "allow")),
  last_failure: orNull(
    Type.Object(
      {
        at: timestamp("When it failed last."),
        why: Type.String({ description: "The message in the gateway's log." }),
        request_id: Type.String({ description: "The call or the task at which it failed." }),
        failures: Type.Integer({ description: "The number of failures since `since`." }),
        since: timestamp("When it failed first."),
      },
      { description: "The last failure on all gateways; null: none known." },
    ),
  ),
});

/** Returns an address without its query and credentials, which may be secret. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

const failureOf = (failure: HookFailures) => ({
  at: failure.failedAt.toISOString(),
  why: failure.why,
  request_id: failure.call,
  failures: failure.failures,
  since: failure.firstFailedAt.toISOString(),
});

function render(settings: HookSettings, failure: HookFailures | undefined) {
  const { target } = settings;
  return {
    name: settings.name,
    at: settings.at,
    url: "url" in target ? shownUrl(target.url) : null,
    module: "url" in target ? null : target.module,
    endpoints: settings.endpoints ?? null,
    workspaces: settings.workspaces ?? null,
    keys: settings.keys ?? null,
    timeout_ms: settings.timeoutMs,
    on_failure: settings.at === "before" ? settings.onFailure : null,
    last_failure: failure === undefined ? null : failureOf(failure),
  };
}

const list = route({
  method: "GET",
  path: "/hooks",
  operationId: "listHooks",
  summary: "The operator's hooks, in the order in which they run",
  description:
    "As in the configuration file when this gateway started. Each process records at most one failure a second.",
  action: "hook.read",
  query: strict({}),
  answer: { name: "Hooks", schema: fullListSchema(hook) },
  errors: ["insufficient_permissions"],
  async handle({ services: { database, hooks }, actor }) {
    permit(actor, "hook.read", {}, "the hooks");
    const failures = await listHookFailures(
      database,
      hooks.map(({ name }) => name),
    );
    const failed = new Map(failures.map((failure) => [failure.hook, failure]));
    return fullList(hooks.map((settings) => render(settings, failed.get(settings.name))));
  },
});

export const hookRoutes = [list];
