/** The endpoints of probes and dashboards: /healthz, /readyz with a database that goes away, /metrics. docs/operate.md. */
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { freePort } from "../support/nginx.ts";
import { startPostgres, type TestPostgres } from "../support/postgres.ts";

let postgres: TestPostgres;
let gateway: GatewayUnderTest;
beforeAll(async () => {
  postgres = await startPostgres();
  gateway = await startTestGateway({ databaseUrl: await postgres.createDatabase() });
});
afterAll(async () => {
  await gateway.close();
  await postgres.stop();
});

const read = async (path: string): Promise<{ status: number; text: string }> => {
  const response = await fetch(gateway.url + path);
  return { status: response.status, text: await response.text() };
};

const call = (model: string, more: object = {}): Promise<Response> =>
  gateway.post("/v1/chat/completions", {
    model,
    messages: [{ role: "user", content: '#sandbox {"usage": {"input": 30, "output": 12}}' }],
    ...more,
  });

/** The value of one sample, by its name and some of its labels; 0 if it is absent. */
async function metric(name: string, labels: Record<string, string>): Promise<number> {
  const { text } = await read("/metrics");
  const line = text
    .split("\n")
    .find(
      (one) =>
        one.startsWith(`${name}{`) &&
        Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`)),
    );
  return Number(line?.split(" ").at(-1) ?? 0);
}

it("/healthz and /readyz need no key", async () => {
  expect(await read("/healthz")).toEqual({ status: 200, text: '{"status":"ok"}' });
  expect(await read("/readyz")).toEqual({
    status: 200,
    text: '{"status":"ready","database":"ok"}',
  });
});

it("/readyz of a first start waits for the first workspace and key", async () => {
  const databaseUrl = await postgres.createMigrated();
  const holder = new Client({ connectionString: databaseUrl });
  await holder.connect();
  // The table of the first row that a first start makes.
  await holder.query("begin; lock table organizations in exclusive mode");
  const PORT = String(await freePort());
  const starting = startTestGateway({ databaseUrl, environment: { PORT } });
  const status = (path: string) =>
    fetch(`http://127.0.0.1:${PORT}${path}`).then(
      (answer) => answer.status,
      () => "closed",
    );
  await expect.poll(() => status("/healthz")).toBe(200);
  expect(await status("/readyz")).toBe(503);
  await holder.query("commit");
  await holder.end();
  const started = await starting;
  expect(await status("/readyz")).toBe(200);
  await started.close();
});

it("/metrics counts calls, tokens, cost and durations", async () => {
  const labels = { model: "sandbox/chat", provider: "sandbox" };
  const name = { calls: "tollgate_calls_total", tokens: "gen_ai_client_token_usage_total" };
  expect(await metric(name.calls, { model: "sandbox/chat" })).toBe(0);
  await (await call("sandbox/chat")).text();
  await (await call("sandbox/chat", { stream: true })).text();
  await (await call("sandbox/chat", { temperature: 9 })).text();
  const succeeded = { model: "sandbox/chat", status: "succeeded", protocol: "chat" };
  expect(await metric(name.calls, succeeded)).toBe(2);
  expect(await metric(name.calls, { status: "failed" })).toBe(1);
  expect(await metric(name.tokens, { model: labels.model, type: "input" })).toBe(60);
  expect(await metric(name.tokens, { model: labels.model, type: "output" })).toBe(24);
  expect(await metric("tollgate_cost_usd_total", { model: labels.model })).toBeGreaterThan(0);
  const seconds = "gen_ai_server_request_duration_seconds_count";
  expect(await metric(seconds, { model: labels.model })).toBe(2);
  const { text } = await read("/metrics");
  expect(text).toContain("process_resident_memory_bytes");
});

it("/metrics never contains a key or a name that callers invent", async () => {
  for (const name of ["made/up-1", "made/up-2", `sandbox/chat:${"x".repeat(50)}`, gateway.key])
    await (await call(name)).text();
  const { text } = await read("/metrics");
  expect(text).not.toContain(gateway.key);
  expect(text).not.toContain("made/up");
  expect(text).not.toContain("xxx");
  expect(text).toContain('model="unknown"');
});

it("/readyz is 503 while the database takes no writes, and queries it at most once a second", async () => {
  const { database } = gateway;
  const at = async (): Promise<number> => {
    const rows = await database.query<{ id: string }>("select pg_current_xact_id()::text as id");
    return Number(rows[0]!.id);
  };
  const before = await at();
  await Promise.all(Array.from({ length: 300 }, () => read("/readyz")));
  expect((await at()) - before).toBeLessThan(100);
  const setting = async (sql: string): Promise<void> => {
    await database.query(sql);
    await database.query("select pg_reload_conf()");
  };
  await setting("alter system set default_transaction_read_only = on");
  try {
    await expect
      .poll(() => read("/readyz"))
      .toEqual({ status: 503, text: '{"status":"not_ready","database":"read_only"}' });
    await expect
      .poll(async () => (await read("/metrics")).text)
      .toMatch(/^tollgate_database_up 0$/m);
  } finally {
    await setting("alter system reset default_transaction_read_only");
  }
  await expect.poll(async () => (await read("/readyz")).status).toBe(200);
});

it("/readyz is 503 while the database is down, /healthz is not, and both recover by themselves", async () => {
  const outage = await postgres.outage("fast");
  await expect
    .poll(() => read("/readyz"))
    .toEqual({ status: 503, text: '{"status":"not_ready","database":"down"}' });
  expect((await read("/healthz")).status).toBe(200);
  const refused = await call("sandbox/chat");
  expect(refused.status).toBe(503);
  expect(((await refused.json()) as { error: { code: string } }).error.code).toBe(
    "database_unavailable",
  );
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  await outage.back();
  await expect.poll(async () => (await read("/readyz")).status).toBe(200);
  await expect.poll(async () => (await call("sandbox/chat")).status).toBe(200);
});
