/** Several deliverers on one outbox, deliverers that die, receivers that hang, clocks that jump. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { beforeAll, expect, it } from "vitest";
import { migrate, openDatabase, type Database } from "../../src/storage/index.ts";
import { claimDue, findDue, keepText } from "../../src/tasks/webhooks/outbox.ts";
import { describeDatabase, sharedPostgres, silentLog } from "../support/postgres.ts";
import {
  certificate,
  masterKey,
  newDeliverer,
  newTenant,
  startReceiver,
  until,
  type Receiver,
} from "./support.ts";

const eventIds = ({ received }: Receiver) => received.map((one) => one.headers["gw-event-id"]);
const dayMs = 86_400_000;

describeDatabase("an outbox with several deliverers", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  it("three deliverers deliver each event once", async () => {
    const tenant = await newTenant(database);
    const receivers = await Promise.all([1, 2, 3, 4, 5].map(() => startReceiver()));
    const tasks: string[] = [];
    for (let index = 0; index < 100; index += 1) {
      tasks.push(await tenant.end(receivers[index % receivers.length]!.url));
    }
    const claims = new Set<number>();
    const deliverers = [1, 2, 3].map((name) =>
      newDeliverer(database, tenant.clock, { at: () => void claims.add(name) }),
    );
    for (const deliverer of deliverers) deliverer.start();
    await until(async () => {
      const [row] = await database.query<{ count: bigint }>(
        "select count(*) as count from webhook_deliveries where status <> 'delivered'",
      );
      return row!.count === 0n;
    });
    await Promise.all(deliverers.map((deliverer) => deliverer.close()));
    const received = receivers.flatMap(eventIds);
    expect(received).toHaveLength(tasks.length);
    expect(new Set(received).size).toBe(tasks.length);
    expect(claims.size).toBe(3);
  });

  it("events found due by several deliverers are claimed by one each, until its lease ends", async () => {
    const tenant = await newTenant(database);
    for (let index = 0; index < 30; index += 1) await tenant.end("https://receiver.example/");
    const nowMs = tenant.clock.now();
    const lease = { leaseMs: 1_000, tryMs: 500 };
    const due = await findDue(database, { nowMs, limit: 50, fullHosts: [], fullWorkspaces: [] });
    expect(due).toHaveLength(30);
    const atOnce = await Promise.all([1, 2, 3].map(() => claimDue(database, due, nowMs, lease)));
    const ids = atOnce.flat().map((one) => one.id);
    expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
    expect(await claimDue(database, due, nowMs + 999, lease)).toEqual([]);
    expect(await claimDue(database, due, nowMs + 1_000, lease)).toHaveLength(30);
  });

  it("the text of an event is stored once, and only by the deliverer that holds the lease", async () => {
    const tenant = await newTenant(database);
    await tenant.end("https://receiver.example/");
    const lease = { leaseMs: 1_000, tryMs: 500 };
    const claimAt = async (nowMs: number) => {
      const due = await findDue(database, { nowMs, limit: 50, fullHosts: [], fullWorkspaces: [] });
      return claimDue(database, due, nowMs, lease);
    };
    const own = (claimed: Awaited<ReturnType<typeof claimAt>>) =>
      claimed.find(({ workspaceId }) => workspaceId === tenant.workspaceId)!;
    const late = own(await claimAt(tenant.clock.now()));
    const successor = own(await claimAt(tenant.clock.now() + 1_000));
    expect(await keepText(database, late, "the late one's")).toBe(false);
    expect(await keepText(database, successor, "the heir's")).toBe(true);
    expect(await keepText(database, successor, "another")).toBe(false);
    const [row] = await database.query<{ body: string }>(
      "select body from webhook_deliveries where id = $1",
      [successor.id],
    );
    expect(row!.body).toBe("the heir's");
  });

  it("an event of a deliverer that dies before recording its success is sent again, and the dead one records nothing", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver(200, 500);
    const taskId = await tenant.end(receiver.url);
    let wakeStale: () => void = () => undefined;
    const stalled = new Promise<void>((resolve) => (wakeStale = resolve));
    const stale = newDeliverer(database, tenant.clock, {
      leaseMs: 10_000,
      at: (point) => (point === "callback.sent" ? stalled : undefined),
    });
    stale.start();
    await until(() => receiver.received.length === 1);
    const successor = newDeliverer(database, tenant.clock);
    successor.start();
    tenant.clock.advance(9_999);
    await new Promise((resume) => setTimeout(resume, 50));
    expect(receiver.received).toHaveLength(1);
    tenant.clock.advance(1);
    await until(async () => (await tenant.delivery(taskId)).tries.length === 1);
    await successor.close();
    // The first deliverer saw a success, but the second has recorded a failure since.
    wakeStale();
    await stale.close();
    expect(receiver.received.map((one) => one.headers["gw-delivery-attempt"])).toEqual(["1", "2"]);
    expect(new Set(eventIds(receiver)).size).toBe(1);
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1);
    // The outcome of the first try is not known, so the second is the first failure.
    expect(await tenant.delivery(taskId)).toMatchObject({
      status: "pending",
      dueAt: new Date(tenant.clock.now() + 5_000),
      tries: [
        { attempt: 1, httpStatus: 200 },
        { attempt: 2, httpStatus: 500 },
      ],
    });
  });

  it("closing gives receivers a moment to answer, and an interrupted attempt is due again at once", async () => {
    const tenant = await newTenant(database);
    const answers: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void answers.push(response), 204);
    const taskId = await tenant.end(receiver.url);
    const deliverer = newDeliverer(database, tenant.clock, { closeMs: 50, timeoutMs: 120_000 });
    deliverer.start();
    await until(() => answers.length === 1);
    const begunMs = performance.now();
    await deliverer.close();
    expect(performance.now() - begunMs).toBeLessThan(60_000);
    const { status, dueAt, tries } = await tenant.delivery(taskId);
    expect({ status, dueAt: dueAt!.getTime() }).toEqual({
      status: "pending",
      dueAt: tenant.clock.now(),
    });
    expect(tries).toMatchObject([{ error: "The gateway was stopped during this try." }]);
    const next = newDeliverer(database, tenant.clock);
    next.start();
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    await next.close();
  });

  it("attempts that the gateway interrupted do not count in the schedule", async () => {
    const tenant = await newTenant(database);
    let answers = 0;
    const receiver = await startReceiver((response) => {
      answers += 1;
      if (answers > 3) response.writeHead(500).end();
    });
    const taskId = await tenant.end(receiver.url);
    for (let stop = 1; stop <= 3; stop += 1) {
      const deliverer = newDeliverer(database, tenant.clock, { closeMs: 50, timeoutMs: 120_000 });
      deliverer.start();
      await until(() => answers === stop);
      await deliverer.close();
    }
    const last = newDeliverer(database, tenant.clock);
    last.start();
    await until(async () => (await tenant.delivery(taskId)).tries.length === 4);
    await last.close();
    const { status, dueAt } = await tenant.delivery(taskId);
    expect({ status, pauseMs: dueAt!.getTime() - tenant.clock.now() }).toEqual({
      status: "pending",
      pauseMs: 5_000,
    });
  });

  it("an outbox with nothing due is read once per wake-up", async () => {
    const tenant = await newTenant(database);
    let reads = 0;
    const counted = {
      ...database,
      query: ((sql, values, options) => {
        if (sql.includes("from webhook_deliveries")) reads += 1;
        return database.query(sql, values, options);
      }) as typeof database.query,
    };
    const deliverer = newDeliverer(counted, tenant.clock, { pollMs: 600_000 });
    deliverer.start();
    await until(() => reads > 0);
    for (let turns = 0; turns < 20; turns += 1) await database.query("select 1");
    expect(reads).toBe(1);
    await deliverer.close();
  });

  it("closing without a time limit waits for a receiver's answer", async () => {
    const tenant = await newTenant(database);
    const answers: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void answers.push(response));
    const taskId = await tenant.end(receiver.url);
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    await until(() => answers.length === 1);
    const closed = deliverer.close();
    await database.query("select pg_sleep(0.1)");
    answers[0]!.writeHead(204).end();
    await closed;
    expect((await tenant.delivery(taskId)).status).toBe("delivered");
  });

  it("a hanging receiver with more due events than one query reads does not hide later events", async () => {
    const tenant = await newTenant(database);
    const [dead, live] = [await startReceiver(() => undefined), await startReceiver()];
    await tenant.end(dead.url);
    await database.query(
      `insert into webhook_deliveries (workspace_id, id, type, url, body, due_at, created_at, updated_at)
       select workspace_id, id || n, type, url, $1, due_at, created_at, updated_at
       from webhook_deliveries, generate_series(1, 220) n`,
      ["{}"],
    );
    tenant.clock.advance(1);
    await tenant.end(live.url);
    const rare = { pollMs: 600_000, timeoutMs: 120_000, closeMs: 0 };
    const deliverer = newDeliverer(database, tenant.clock, rare);
    deliverer.start();
    await until(() => live.received.length === 1);
    await deliverer.close();
  });

  it("a hanging receiver takes four slots, and others are served meanwhile", async () => {
    const tenant = await newTenant(database);
    const dead = await startReceiver(() => undefined);
    const live = await startReceiver();
    for (let index = 0; index < 40; index += 1) await tenant.end(dead.url);
    const tasks: string[] = [];
    for (let index = 0; index < 10; index += 1) tasks.push(await tenant.end(live.url));
    const deliverer = newDeliverer(database, tenant.clock, { timeoutMs: 20_000, closeMs: 0 });
    deliverer.start();
    await until(() => live.received.length === tasks.length);
    await until(() => dead.received.length === 4);
    await deliverer.close();
    expect(dead.received).toHaveLength(4);
  });

  it("a clock that ran ahead and is set back does not delay retries", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver(503, 200);
    const taskId = await tenant.end(receiver.url);
    tenant.clock.advance(dayMs);
    const first = newDeliverer(database, tenant.clock);
    first.start();
    await until(async () => (await tenant.delivery(taskId)).tries.length === 1);
    await first.close();
    tenant.clock.advance(-dayMs);
    const second = newDeliverer(database, tenant.clock);
    second.start();
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    await second.close();
  });

  it("a clock that jumps ahead during an attempt does not cause a second attempt", async () => {
    const tenant = await newTenant(database);
    const answers: ServerResponse[] = [];
    const receiver = await startReceiver((response) => void answers.push(response));
    const taskId = await tenant.end(receiver.url);
    const deliverer = newDeliverer(database, tenant.clock, { timeoutMs: 20_000 });
    deliverer.start();
    await until(() => answers.length === 1);
    tenant.clock.advance(dayMs);
    await new Promise((resume) => setTimeout(resume, 60));
    answers[0]!.writeHead(200).end();
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    await deliverer.close();
    expect(receiver.received).toHaveLength(1);
  });
});

it("the event of a deliverer process that is killed during its attempt is sent again by another", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const database = await openDatabase({ url, log: silentLog });
  await migrate(database);
  const tenant = await newTenant(database);
  const receiver = await startReceiver(() => undefined, 200);
  const taskId = await tenant.end(receiver.url);
  const child = spawn(process.execPath, [new URL("deliverer-child.ts", import.meta.url).pathname], {
    stdio: "inherit",
    env: {
      ...process.env,
      TEST_DATABASE_URL: url,
      TEST_MASTER_KEY: masterKey.toString("base64"),
      TEST_CERTIFICATE: certificate.cert,
    },
  });
  await until(() => receiver.received.length === 1);
  child.kill("SIGKILL");
  await once(child, "exit");
  tenant.clock.set(Date.now() + 15_000 + 30_000);
  const successor = newDeliverer(database, tenant.clock);
  successor.start();
  await until(async () => (await tenant.delivery(taskId)).status === "delivered");
  await successor.close();
  expect(new Set(eventIds(receiver)).size).toBe(1);
  expect(receiver.received.map((one) => one.body)[1]).toBe(receiver.received[0]!.body);
  await database.close();
});
