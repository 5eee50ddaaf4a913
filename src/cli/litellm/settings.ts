/**
 * Converts LiteLLM's settings beside its models. Few have a counterpart in our file; for each of the others, a note names the
 * alternative.
 */
import { isList, isMap, numberOf, type Section } from "./file.ts";
import { timeout } from "./providers.ts";
import type { Report } from "./report.ts";

/** The converted settings. */
export interface Settings {
  /** Top-level keys of our file. */
  readonly rows: Record<string, unknown>;
  /** Default timeouts, in seconds, which a provider's own timeouts override. */
  readonly timeouts: Record<string, number>;
  /** Pairs of an alias and the name it stands for. */
  readonly aliases: readonly (readonly [string, string])[];
  /** Name of the model that answers to unknown names. */
  readonly defaultModel?: string | undefined;
}

const failover = "failover tries up to six attempts at four providers (docs/routing.md)";
const circuits = "circuits open and close by themselves, for all gateways (docs/routing.md)";
const noRedis = "gateways share limits and health through PostgreSQL: no Redis is needed";
const members = "workspaces, members and caps are set over the API (docs/litellm.md)";
const cache = "set response_cache of a key: the same request, word for word (docs/cache.md)";

/** Notes on settings that are not written into our file: `changed` has a counterpart elsewhere, `unsupported` has none. */
const elsewhere: Readonly<Record<string, readonly ["changed" | "unsupported", string]>> = {
  num_retries: ["changed", failover],
  retry_policy: ["changed", failover],
  retry_after: ["changed", failover],
  max_fallbacks: ["changed", "a model has up to three fallbacks"],
  allowed_fails: ["changed", circuits],
  allowed_fails_policy: ["changed", circuits],
  cooldown_time: ["changed", circuits],
  disable_cooldowns: ["unsupported", circuits],
  redis_host: ["changed", noRedis],
  redis_port: ["changed", noRedis],
  redis_password: ["changed", noRedis],
  redis_url: ["changed", noRedis],
  redis_db: ["changed", noRedis],
  enable_pre_call_checks: ["unsupported", "the vendor refuses a call that is too long, with 400"],
  drop_params: ["changed", "always so: what a model does not take is left out and reported"],
  modify_params: ["changed", "always so, and reported in the answer (docs/protocols.md)"],
  context_window_fallbacks: [
    "unsupported",
    "a call that is too long is refused; call a model with a longer context by its name",
  ],
  content_policy_fallbacks: [
    "unsupported",
    "a call that the vendor refuses for what is in it goes nowhere else",
  ],
  cache: ["changed", cache],
  cache_params: ["changed", cache],
  callback_settings: ["unsupported", "traces go by OTLP (docs/monitoring.md)"],
  turn_off_message_logging: [
    "changed",
    "bodies are kept only where a workspace's keep_bodies says so",
  ],
  store_prompts_in_spend_logs: [
    "changed",
    "set keep_bodies of the workspace to errors or all (docs/management.md)",
  ],
  json_logs: ["changed", "logs are JSON lines (docs/operate.md)"],
  set_verbose: ["changed", "TOLLGATE_LOG_LEVEL says how much is logged"],
  master_key: [
    "changed",
    "set TOLLGATE_ADMIN_TOKEN to a new value; callers get keys of a workspace (tollgate keys create)",
  ],
  salt_key: ["changed", "set TOLLGATE_MASTER_KEY to a new value: it encrypts what is stored"],
  database_url: ["changed", "set DATABASE_URL to an empty PostgreSQL database of its own"],
  database_connection_pool_limit: [
    "changed",
    "each process has a pool of its own size (docs/operate.md)",
  ],
  store_model_in_db: ["changed", "providers can be added over the API as well (docs/models.md)"],
  alerting: ["unsupported", "alert rules for Prometheus are in deploy/ (docs/monitoring.md)"],
  alerting_threshold: [
    "unsupported",
    "alert rules for Prometheus are in deploy/ (docs/monitoring.md)",
  ],
  background_health_checks: ["changed", "circuits are opened by calls, and probed by one call"],
  health_check_interval: ["changed", "circuits are opened by calls, and probed by one call"],
  max_budget: ["unsupported", members],
  budget_duration: ["unsupported", members],
  max_internal_user_budget: ["unsupported", members],
  default_internal_user_params: ["unsupported", members],
  default_team_settings: ["unsupported", members],
  default_key_generate_params: ["unsupported", members],
  max_parallel_requests: ["unsupported", "limit keys, members or workspaces (docs/limits.md)"],
  global_max_parallel_requests: ["unsupported", "limit workspaces (docs/limits.md)"],
  custom_auth: ["unsupported", "callers have keys of a workspace"],
  enable_jwt_auth: [
    "unsupported",
    "callers have keys; people sign in by OpenID Connect (console.oidc)",
  ],
  pass_through_endpoints: ["unsupported", "there are no pass-through routes"],
  guardrails: ["unsupported", "write a hook that asks them (docs/hooks.md)"],
  mcp_servers: ["unsupported", "there is no MCP gateway"],
  include: ["unsupported", "convert the included files too, and put the parts together"],
};

/** Reads `general_settings`, `router_settings`, `litellm_settings` and the other top-level settings. Reports every field. */
export function readSettings(file: Section, report: Report): Settings {
  const general = file.section("general_settings");
  const router = file.section("router_settings");
  const own = file.section("litellm_settings");
  // Marked as read: fallbacks.ts converts them once the models are known.
  for (const section of [router, own])
    for (const name of ["fallbacks", "default_fallbacks"]) section.value(name);
  const rows = { ...bodyLimit(general, report), ...retention(general, report) };
  const timeouts = timeoutsOf([router, own], report);
  const settings: Settings = {
    rows,
    timeouts,
    aliases: aliasesOf(router, report),
    defaultModel: defaultOf(general, report),
  };
  callbacks(own, report);
  strategyOf(router, report);
  environmentOf(file, report);
  for (const section of [general, router, own, file])
    for (const name of section.unread()) note(section, name, report);
  return settings;
}

function note(section: Section, name: string, report: Report): void {
  const row = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined;
  const [outcome, text] = row ?? ["unsupported", "has no counterpart here"];
  report[outcome](section.at(name), text);
}

function bodyLimit(general: Section, report: Report): object {
  const megabytes = numberOf(general.value("max_request_size_mb"));
  if (megabytes === undefined || megabytes === 0) return {};
  report.takenOver(general.at("max_request_size_mb"), "limits.body_mb");
  return { limits: { body_mb: megabytes, text_body_mb: Math.min(megabytes, 32) } };
}

function retention(general: Section, report: Report): object {
  const text = general.text("maximum_spend_logs_retention_period");
  if (text === undefined) return {};
  const field = general.at("maximum_spend_logs_retention_period");
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days === undefined || Number(days) < 2 || Number(days) > 3650) {
    report.unsupported(field, "write retention.request_log_days, from 2 to 3650");
    return {};
  }
  report.takenOver(field, "retention.request_log_days");
  return { retention: { request_log_days: Number(days) } };
}

/** `router_settings` wins, as in LiteLLM. */
function timeoutsOf(sections: readonly Section[], report: Report): Record<string, number> {
  const timeouts: Record<string, number> = {};
  for (const section of sections)
    for (const [name, to] of [
      ["stream_timeout", "first_byte_s"],
      ["timeout", "total_s"],
      ["request_timeout", "total_s"],
    ] as const) {
      const seconds = timeout(section, name, to, report);
      if (seconds !== undefined) timeouts[to] ??= seconds;
    }
  return timeouts;
}

/** Reports callbacks. Metrics and traces need none here; others are not supported. */
function callbacks(own: Section, report: Report): void {
  for (const name of ["callbacks", "success_callback", "failure_callback", "service_callbacks"]) {
    const value = own.value(name);
    const names = (isList(value) ? value : [value]).filter((each) => typeof each === "string");
    for (const each of names) report.changed(own.at(name), callbackNote(each));
    if (names.length === 0 && value !== undefined) report.unsupported(own.at(name), "no names");
  }
}

function callbackNote(name: string): string {
  if (name === "prometheus") return "prometheus: GET /metrics is there (docs/monitoring.md)";
  if (/^(otel|arize|arize_phoenix|langfuse|langfuse_otel|langtrace|logfire|datadog)$/.test(name))
    return `${name}: send traces by OTLP, telemetry.otlp_endpoint (docs/monitoring.md)`;
  if (/^(s3|s3_v2|gcs_bucket|azure_storage)$/.test(name))
    return `${name}: the request log goes to a folder or S3 by exports.to`;
  return "another callback: read the request log (GET /admin/v1/requests) or its exports";
}

/** Returns aliases: `{alias: group}`, or `{alias: {model: group, hidden: true}}`. */
function aliasesOf(router: Section, report: Report): [string, string][] {
  const value = router.value("model_group_alias");
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([alias, target]): [string, string][] => {
    const group = isMap(target) ? target["model"] : target;
    const field = `${router.at("model_group_alias")}.${alias}`;
    if (typeof group === "string") return [[alias, group]];
    report.unsupported(field, "names no model");
    return [];
  });
}

function defaultOf(general: Section, report: Report): string | undefined {
  const name = general.text("completion_model");
  if (name !== undefined)
    report.changed(
      general.at("completion_model"),
      "answers to names that no other model has",
      "default_model",
    );
  return name;
}

const byStrategy: Readonly<Record<string, string>> = {
  "latency-based-routing": "latency",
  "cost-based-routing": "price",
};

function strategyOf(router: Section, report: Report): void {
  const strategy = router.text("routing_strategy");
  if (strategy === undefined) return;
  const field = router.at("routing_strategy");
  const sort = Object.hasOwn(byStrategy, strategy) ? byStrategy[strategy] : undefined;
  if (strategy === "simple-shuffle") report.takenOver(field, "models[].offers[].weight");
  else if (sort === undefined)
    report.changed(field, "calls are shared by weight (docs/routing.md)");
  else
    report.changed(
      field,
      `is no line of the file: set routing.sort to ${sort} for an organization, workspace or key`,
    );
}

/** Reports variables; their values are not copied, because they may be secrets. */
function environmentOf(file: Section, report: Report): void {
  const value = file.value("environment_variables");
  if (!isMap(value)) return;
  for (const name of Object.keys(value))
    report.changed(`environment_variables.${name}`, "set it where the gateway starts; not copied");
}
