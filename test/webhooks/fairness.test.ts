/** One workspace's receivers that are dead, slow or not resolvable do not delay the callbacks of others. docs/callbacks.md. */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { createSender } from "../../src/tasks/webhooks/index.ts";
import { createNames } from "../../src/upstream/names.ts";
import { makeCertificate } from "../support/certificate.ts";
import { startDns, type DnsServer } from "../support/dns.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, silentLog } from "../support/postgres.ts";
import { newDeliverer, newTenant, startReceiver, until, type TestTenant } from "./support.ts";

const certificate = makeCertificate(["live.example"]);
setDefaultCACertificates([...getCACertificates("default"), certificate.cert]);

let database: Database;
let dns: DnsServer;
beforeAll(async () => {
  database = await openDatabase({
    url: await (await sharedPostgres()).createMigrated(),
    log: silentLog,
  });
  dns = await startDns((name, family) => {
    if (name.startsWith("dead")) return "silent";
    return family === 4 ? ["127.0.0.1"] : [];
  });
});
afterAll(async () => {
  await database?.close();
  await dns?.close();
});

/** Adds callbacks of other workspaces that are due at once. `url` gets the number of each. */
async function addStrangers(
  { clock }: TestTenant,
  { workspaces, each }: { readonly workspaces: number; readonly each: number },
  url: (number: number) => string,
): Promise<void> {
  const due = new Date(clock.now() - 1_000);
  await database.query(
    `insert into workspaces (id, name, created_at, updated_at)
     select 'stranger_' || n, 'stranger', $2, $2 from generate_series(1, $1) n on conflict do nothing`,
    [workspaces, due],
  );
  const rows = Array.from({ length: workspaces * each }, (_, number) => ({
    workspace: `stranger_${1 + (number % workspaces)}`,
    url: url(number),
  }));
  await database.query(
    `insert into webhook_deliveries (workspace_id, id, type, url, body, due_at, created_at, updated_at)
     select w, 'evt_' || n, 'webhook.test', u, '{}', $3, $3, $3
     from unnest($1::text[], $2::text[]) with ordinality as i (w, u, n)`,
    [rows.map((row) => row.workspace), rows.map((row) => row.url), due],
  );
}

/** How long the callback of a workspace takes, in milliseconds, beside those of the others. */
async function deliveredMs(tenant: TestTenant, url: string): Promise<number> {
  const sender = createSender({ allowPrivate: true, resolve: createNames({ servers: [dns.at] }) });
  const taskId = await tenant.end(url);
  const deliverer = newDeliverer(database, tenant.clock, {
    send: sender,
    timeoutMs: hangsMs,
    closeMs: 0,
  });
  const begunMs = performance.now();
  deliverer.start();
  try {
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    return performance.now() - begunMs;
  } finally {
    await deliverer.close();
  }
}

/** How long a hanging receiver keeps its slot, and a shorter limit for the callback; a slow machine needs most of it. */
const hangsMs = 15_000;
const promptMs = shortOrLong(12_000, 2_500);
/** Shorter than the timeout of a dead name. */
const promptByNameMs = shortOrLong(4_000, 2_500);

it("a thousand unresolvable names of one workspace do not delay another workspace's callback", async () => {
  const tenant = await newTenant(database);
  const server = createServer(certificate, (_request, response) => void response.end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await addStrangers(tenant, { workspaces: 1, each: 1_000 }, (n) => `https://dead-${n}.example/`);
  expect(await deliveredMs(tenant, `https://live.example:${port}/`)).toBeLessThan(promptByNameMs);
  server.closeAllConnections();
  server.close();
});

it("hanging receivers of twelve workspaces leave slots for another workspace", async () => {
  const tenant = await newTenant(database);
  const [hanging, live] = [await startReceiver(() => undefined), await startReceiver()];
  // Each has its own host, so that only the limit per workspace applies.
  await addStrangers(
    tenant,
    { workspaces: 12, each: 60 },
    (n) => `https://live-${n}.example:${hanging.port}/`,
  );
  expect(await deliveredMs(tenant, live.url)).toBeLessThan(promptMs);
});

it("a slow path of one workspace does not block a receiver that other workspaces use", async () => {
  const tenant = await newTenant(database);
  const receiver = await startReceiver((response, { path }) => {
    if (path !== "/slow") response.end();
  });
  const slow = `https://localhost:${receiver.port}/slow`;
  await addStrangers(tenant, { workspaces: 1, each: 50 }, () => slow);
  expect(await deliveredMs(tenant, receiver.url)).toBeLessThan(promptMs);
  expect(receiver.received.filter(({ path }) => path === "/slow").length).toBeLessThanOrEqual(4);
});

it("a receiver that answers byte by byte has the usual timeout, and then counts as failed", async () => {
  const tenant = await newTenant(database);
  const slow = await startReceiver((response) => {
    const { socket } = response;
    const timer = setInterval(() => socket?.write("H"), 20);
    socket?.once("close", () => clearInterval(timer));
  });
  const taskId = await tenant.end(slow.url);
  const deliverer = newDeliverer(database, tenant.clock, { timeoutMs: 300 });
  deliverer.start();
  await until(async () => (await tenant.delivery(taskId)).tries.length === 1);
  await deliverer.close();
  expect(await tenant.delivery(taskId)).toMatchObject({
    status: "pending",
    tries: [{ httpStatus: null }],
  });
});

it("a deliverer that was stopped for longer than its lease does not send what another has sent", async () => {
  const tenant = await newTenant(database);
  const receiver = await startReceiver();
  const taskId = await tenant.end(receiver.url);
  const { promise: waking, resolve: wake } = Promise.withResolvers<void>();
  const stale = newDeliverer(database, tenant.clock, {
    leaseMs: 50,
    timeoutMs: 10,
    // The second try uses the stored body, so only the lease shows that the delivery belongs to another deliverer now.
    at: (point) => (point === "callback.claimed" ? waking : undefined),
    send: createSender({ allowPrivate: true }),
  });
  await database.query("update webhook_deliveries set body = '{}' where task_id = $1", [taskId]);
  stale.start();
  await until(async () => {
    const [row] = await database.query<{ attempts: number }>(
      "select attempts from webhook_deliveries where task_id = $1",
      [taskId],
    );
    return row!.attempts === 1;
  });
  tenant.clock.advance(60);
  const successor = newDeliverer(database, tenant.clock);
  successor.start();
  await until(() => receiver.received.length === 1);
  await successor.close();
  await database.query("select pg_sleep(0.06)");
  wake();
  await stale.close();
  expect(receiver.received).toHaveLength(1);
  expect((await tenant.delivery(taskId)).status).toBe("delivered");
});
