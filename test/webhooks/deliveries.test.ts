/** The delivery log: lists, sending an event again, testing an address. */
import { beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { createSender, getDelivery, redeliver, sendTest } from "../../src/tasks/index.ts";
import { enableSigning } from "../../src/tenancy/index.ts";
import { refusal } from "../tenancy/support.ts";
import { describeDatabase } from "../support/postgres.ts";
import { newDeliverer, newTenant, startReceiver, until } from "./support.ts";

describeDatabase("the delivery log", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  it("an event is redelivered at once with the same id and text, even after it was delivered", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver(200, 500, 200);
    const taskId = await tenant.end(receiver.url);
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    const { id, workspaceId } = await tenant.delivery(taskId);
    expect(await redeliver(tenant, { workspaceId, id })).toMatchObject({
      status: "pending",
      dueAt: new Date(tenant.clock.now()),
      tries: [{ attempt: 1, httpStatus: 200 }],
    });
    await until(async () => (await tenant.delivery(taskId)).tries.length === 2);
    // The schedule starts again: after the first failure comes the first pause.
    const { dueAt } = await tenant.delivery(taskId);
    expect(dueAt!.getTime() - tenant.clock.now()).toBe(5_000);
    await redeliver(tenant, { workspaceId, id });
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    await deliverer.close();
    expect(receiver.received.map((one) => one.headers["gw-event-id"])).toEqual([id, id, id]);
    expect(receiver.received.map((one) => one.headers["gw-delivery-attempt"])).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1);
    expect(await getDelivery(tenant, id)).toEqual(await tenant.delivery(taskId));
  });

  it("the last hundred tries are told of an event that was sent again thousands of times", async () => {
    const tenant = await newTenant(database);
    const { id, workspaceId } = await tenant.delivery(
      await tenant.end("https://receiver.example/"),
    );
    await database.query(
      `insert into webhook_attempts (workspace_id, delivery_id, attempt, started_at, duration_ms, http_status)
       select $1, $2, n, now(), 1, 200 from generate_series(1, 5000) n`,
      [workspaceId, id],
    );
    const { tries } = await getDelivery(tenant, id);
    expect(tries.map((one) => one.attempt)).toEqual(
      Array.from({ length: 100 }, (_, n) => 4901 + n),
    );
  });

  it("an unsigned event that was given up is sent once signing is enabled again", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    await enableSigning(tenant, tenant.workspaceId, false);
    const taskId = await tenant.end(receiver.url);
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    await until(async () => (await tenant.delivery(taskId)).status === "failed");
    expect((await enableSigning(tenant, tenant.workspaceId, true)).enabled).toBe(true);
    await redeliver(tenant, await tenant.delivery(taskId));
    await until(async () => (await tenant.delivery(taskId)).status === "delivered");
    await deliverer.close();
    expect(receiver.received).toHaveLength(1);
  });

  it("another workspace's delivery is not found", async () => {
    const tenant = await newTenant(database);
    const taskId = await tenant.end("https://receiver.example/");
    const { id } = await tenant.delivery(taskId);
    expect(await refusal(redeliver(tenant, { workspaceId: "ws_other", id }))).toBe("not_found");
    expect(await refusal(getDelivery(tenant, "evt_none"))).toBe("not_found");
    const test = { workspaceId: "ws_other", url: "https://receiver.example/" };
    expect(await refusal(sendTest(tenant, test))).toBe("not_found");
  });

  it("a test event is signed and sent once, whether or not it succeeds", async () => {
    const tenant = await newTenant(database);
    const { workspaceId } = tenant;
    const receiver = await startReceiver(200, 500);
    const deliverer = newDeliverer(database, tenant.clock);
    deliverer.start();
    for (const [index, status] of (["delivered", "failed"] as const).entries()) {
      const { id, taskId, type } = await sendTest(tenant, { workspaceId, url: receiver.url });
      expect([taskId, type]).toEqual([null, "webhook.test"]);
      await until(async () => (await getDelivery(tenant, id)).status !== "pending");
      expect((await getDelivery(tenant, id)).status).toBe(status);
      const { body, headers } = receiver.received[index]!;
      expect(JSON.parse(body)).toEqual({
        id,
        type: "webhook.test",
        created_at: new Date(tenant.clock.now()).toISOString(),
        data: { workspace_id: workspaceId },
      });
      expect(headers["gw-signature"]).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    }
    await deliverer.close();
    expect(receiver.received).toHaveLength(2);
  });

  it("a test event to a forbidden address has the reason in the log", async () => {
    const tenant = await newTenant(database);
    const send = createSender({ allowPrivate: false });
    const deliverer = newDeliverer(database, tenant.clock, { send });
    deliverer.start();
    for (const url of ["https://10.0.0.1/", "mailto:somebody", ""]) {
      const { id } = await sendTest(tenant, { workspaceId: tenant.workspaceId, url });
      await until(async () => (await getDelivery(tenant, id)).status === "failed");
      expect((await getDelivery(tenant, id)).tries).toMatchObject([
        { httpStatus: null, error: expect.stringMatching(/^webhook_url /) as string },
      ]);
    }
    await deliverer.close();
  });
});
