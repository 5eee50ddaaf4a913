/**
 * The dashboard and the alerts in `deploy/`. A running gateway has every metric that they name, and each alert fires in its
 * case (promtool, if it is installed). Exemplars lead from a metric to a trace. docs/monitoring.md.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { startCollector, type Collector } from "../support/otlp.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";

const deploy = new URL("../../deploy/", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, deploy), "utf8");

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number };
}
const dashboard = JSON.parse(read("grafana/dashboard.json")) as { readonly panels: Panel[] };
const rules = (
  parse(read("prometheus/alerts.yml")) as {
    readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

let collector: Collector;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  collector = await startCollector();
  gateway = await startTestGateway({
    config: "tags: { metrics: [team] }\n",
    sandbox: "on",
    tasks: { timing: { firstPollMs: 20, sweepMs: 50 } },
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "20",
      TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
      TOLLGATE_INITIAL_CREDIT: "100",
      // Not a standby, so it is not read; but its metrics are there.
      DATABASE_READ_URL: (await sharedPostgres()).url,
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await collector.close();
});

const hello = { model: "sandbox/chat", messages: [{ role: "user", content: "Hello!" }] };
const metrics = async (accept = "*/*"): Promise<string> => {
  const response = await fetch(`${gateway.url}/metrics`, { headers: { accept } });
  expect(response.status).toBe(200);
  return response.text();
};

/** The names of metrics in a query: words that are not functions, labels or keywords. */
function namesIn(query: string): string[] {
  const bare = query
    .replaceAll(/"[^"]*"/g, "")
    .replaceAll(/\{[^}]*\}/g, "")
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, "");
  const words = bare.match(/\b[a-z_][a-z0-9_]*\b(?! *\()/gi) ?? [];
  // The last one is Prometheus' own metric: whether it reached a target.
  const others = ["and", "or", "unless", "group_left", "le", "up"];
  return words.filter((word) => !others.includes(word));
}

/** The name of a histogram, without the suffix of its series. */
const family = (name: string): string => name.replace(/_(?:bucket|sum|count)$/, "");

it("every metric in the dashboard and in the alerts exists in a running gateway", async () => {
  const queries = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...rules.map(({ expr }) => expr),
  ];
  const named = new Set(queries.flatMap(namesIn));
  expect(named.size).toBeGreaterThan(25);
  // A scrape leaves out counts from the database if the database was too slow.
  await eventually(
    async () => {
      const text = await metrics();
      const known = new Set(Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name]) => name!));
      return [...named].every((name) => known.has(name) || known.has(family(name)));
    },
    `all of ${[...named].join(", ")}`,
  );
  expect(namesIn('sum by (x) (rate(gone_total{a="b"}[5m])) > 1')).toEqual(["gone_total"]);
});

it("the dashboard has its rows, and its panels do not overlap", () => {
  const { panels } = dashboard;
  const rows = panels.filter(({ type }) => type === "row").map(({ title }) => title);
  expect(rows).toEqual([
    "Traffic",
    "Errors",
    "Latency",
    "Money",
    "Ledger",
    "Tasks",
    "Callbacks",
    "Process",
  ]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const places = panels.map(({ gridPos: { x, y } }) => `${x} ${y}`);
  expect(new Set(places).size).toBe(places.length);
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
});

it("a call, a failure and a task are counted with provider, model and status", async () => {
  await (await gateway.post("/v1/chat/completions", hello)).text();
  await gateway.post("/v1/chat/completions", { ...hello, temperature: "hot" });
  const task = { model: "sandbox/video-model-v1", prompt: "A tram.", duration: 2 };
  const { id } = (await (await gateway.post("/v1/tasks", task)).json()) as { id: string };
  await eventually(async () => {
    const { status } = (await (await gateway.get(`/v1/tasks/${id}`)).json()) as { status: string };
    return status === "succeeded";
  }, "the task to end");
  const text = await metrics();
  expect(text).toMatch(
    /^tollgate_attempts_total\{provider="[^"]+",model="[^"]+",outcome="ok"\} 1$/m,
  );
  expect(text).toMatch(/^tollgate_call_tokens_count\{model="sandbox\/chat",.*type="output"\} 1$/m);
  expect(text).toMatch(/^tollgate_call_errors_total\{code="[a-z_]+",fault="caller"\} 1$/m);
  expect(text).toMatch(/^tollgate_tasks_total\{.*status="succeeded"\} 1$/m);
  expect(text).toMatch(/^tollgate_circuit_state\{provider="[^"]+",model="[^"]+"\} 0$/m);
  expect(text).toMatch(/^tollgate_database_up 1$/m);
  expect(text).toMatch(/^tollgate_ledger_batches_total\{outcome="ok"\} [1-9]/m);
  expect(text).toMatch(/^tollgate_ledger_batch_entries_bucket\{le="\+Inf"\} [1-9]/m);
  expect(text).toMatch(/^tollgate_disk_free_bytes\{directory="data"\} \d{6,}/m);
});

it("OpenMetrics has exemplars, whose traces the collector has", async () => {
  await (await gateway.post("/v1/chat/completions", hello)).text();
  const open = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3";
  const text = await metrics(open);
  expect(text.endsWith("\n# EOF\n")).toBe(true);
  expect(text).not.toContain("\n\n");
  expect(text).toContain("# TYPE tollgate_calls counter\n");
  const exemplar =
    /^gen_ai_server_request_duration_seconds_bucket\{[^}]*\} \d+ # \{trace_id="([0-9a-f]{32})"\} [\d.e-]+ \d+\.\d{3}$/m;
  const [, traceId] = exemplar.exec(text)!;
  await eventually(
    () => collector.spans.some((span) => span.traceId === traceId),
    "the exemplar's trace",
  );
  expect(await metrics()).not.toContain(" # {");
});

it("no two families of OpenMetrics have the same name, although counters lose their _total", async () => {
  const text = await metrics("application/openmetrics-text;version=1.0.0");
  const names = Array.from(text.matchAll(/^# TYPE (\S+) /gm), ([, name]) => name!);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

it.skipIf(!hasPromtool)(
  "Prometheus accepts the alerts, and each fires only in its own case",
  async () => {
    const cwd = fileURLToPath(new URL("prometheus/", deploy));
    const run = (...args: string[]) => execFileSync("promtool", args, { cwd, encoding: "utf8" });
    expect(run("check", "rules", "alerts.yml")).toContain(`${rules.length} rules found`);
    expect(run("test", "rules", "alerts.test.yml")).toContain("SUCCESS");
    // Prometheus' own reader finds only faults in help texts and in names of other projects.
    const checked = spawnSync("promtool", ["check", "metrics"], { input: await metrics() });
    expect(checked.stderr.toString()).not.toMatch(
      /error while linting|tollgate_.*(?:counter metrics|no help)/,
    );
  },
);

it("each alert has a test in which it fires and one in which it does not", () => {
  const tests = read("prometheus/alerts.test.yml");
  for (const { alert } of rules)
    expect([alert, tests.split(`alertname: ${alert}\n`).length - 1]).toEqual([alert, 2]);
});

it("docs/monitoring.md has every metric of a running gateway, and every alert", async () => {
  const page = readFileSync(new URL("../../docs/monitoring.md", import.meta.url), "utf8");
  const tagged = { "x-gw-metadata": '{"team":"search"}' };
  await (await gateway.post("/v1/chat/completions", hello, tagged)).text();
  const text = await metrics();
  expect(text).toContain(
    'tollgate_tagged_calls_total{tag="team",value="search",status="succeeded"} 1',
  );
  const names = Array.from(
    text.matchAll(/^# TYPE ((?:tollgate|gen_ai)_\S+) /gm),
    ([, name]) => name!,
  );
  expect(names.length).toBeGreaterThan(35);
  // The second name in a row may be only its suffix.
  const lacks = names.filter((name) => {
    const ending = name.slice(name.lastIndexOf("_"));
    return !page.includes(`\`${name}\``) && !page.includes(`\`${ending}\` `);
  });
  expect(lacks).toEqual([]);
  expect(rules.filter(({ alert }) => !page.includes(`\`${alert}\``))).toEqual([]);
});
