/** Callbacks over the management API, to a real HTTPS receiver: the delivery log, sending again, and testing an address. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startReceiver, until } from "../webhooks/support.ts";
import { ids, startWorld, type World } from "./support.ts";

describe("callbacks", () => {
  let world: World;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let tasks: Record<"mem" | "mel" | "bob", string>;
  beforeAll(async () => {
    receiver = await startReceiver(200);
    world = await startWorld({ environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" } });
    const { home, away } = world;
    const video = async (person: World["mem"], workspaceId: string) =>
      world.video((await world.keyOf(person, workspaceId)).key, { webhook_url: receiver.url });
    tasks = {
      mem: await video(world.mem, home.id),
      mel: await video(world.mel, home.id),
      bob: await video(world.bob, away.id),
    };
    await until(() => receiver.received.length === 3);
  });
  afterAll(() => world.gateway.close());

  const deliveryOf = async (taskId: string) => {
    const { json } = await world.root.call("GET", `/webhook_deliveries?task_id=${taskId}`);
    return json.data[0] as { id: string; status: string; attempts: unknown[] };
  };
  const delivered = (taskId: string, attempts: number) =>
    until(async () => {
      const { status, attempts: tried } = await deliveryOf(taskId);
      return status === "delivered" && tried.length === attempts;
    });

  it("the log shows each delivery with its attempts to the users who may see it", async () => {
    for (const id of Object.values(tasks)) await delivered(id, 1);
    expect(await deliveryOf(tasks.mem)).toEqual({
      id: expect.stringMatching(/^evt_/) as string,
      workspace_id: world.home.id,
      task_id: tasks.mem,
      type: "task.succeeded",
      url: receiver.url,
      status: "delivered",
      next_attempt_at: null,
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
      attempts: [
        {
          attempt: 1,
          started_at: expect.any(String) as string,
          duration_ms: expect.any(Number) as number,
          http_status: 200,
          error: null,
        },
      ],
    });
    const list = async (person: World["mem"], query = "") =>
      (
        (await person.call("GET", `/webhook_deliveries${query}`)).json.data as { task_id: string }[]
      ).map(({ task_id }) => task_id);
    expect(await list(world.root)).toEqual([tasks.bob, tasks.mel, tasks.mem]);
    expect(await list(world.ann)).toEqual([tasks.mel, tasks.mem]);
    expect(await list(world.mem)).toEqual([tasks.mem]);
    expect(await list(world.root, `?workspace_id=${world.away.id}`)).toEqual([tasks.bob]);
    expect(await list(world.root, "?status=failed")).toEqual([]);
  });

  it("a delivered event can be sent again, with the same id and the same body", async () => {
    const { id } = await deliveryOf(tasks.mem);
    const first = receiver.received.find(({ body }) => body.includes(id))!;
    const before = receiver.received.length;
    const again = await world.mem.call("POST", `/webhook_deliveries/${id}/redeliver`);
    expect(again.json).toMatchObject({ id, status: "pending" });
    await until(() => receiver.received.length === before + 1);
    expect(receiver.received.at(-1)!.body).toBe(first.body);
    await delivered(tasks.mem, 2);
    const audit = await world.root.call("GET", `/audit?subject_id=${id}`);
    expect(audit.json.data[0]).toMatchObject({
      action: "delivery.redeliver",
      actor: { name: "mem@example.com" },
    });
  });

  it("an event of another user gets the same answer as an unknown one, and is not sent", async () => {
    const before = receiver.received.length;
    for (const [person, taskId] of [
      [world.mem, tasks.mel],
      [world.ann, tasks.bob],
    ] as const) {
      const { id } = await deliveryOf(taskId);
      const foreign = await person.call("POST", `/webhook_deliveries/${id}/redeliver`);
      const missing = await person.call("POST", "/webhook_deliveries/evt_none/redeliver");
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    }
    expect(receiver.received).toHaveLength(before);
  });

  it("a signed test event is sent to an address, for workspace admins only", async () => {
    const path = `/workspaces/${world.home.id}/webhook_test`;
    const sent = await world.ann.call("POST", path, { url: receiver.url });
    expect([sent.status, sent.json.type, sent.json.task_id]).toEqual([202, "webhook.test", null]);
    await until(() => receiver.received.some(({ body }) => body.includes(sent.json.id as string)));
    const got = receiver.received.find(({ body }) => body.includes(sent.json.id as string))!;
    expect(got.headers).toHaveProperty("webhook-signature");
    const refused = await world.mem.call("POST", path, { url: receiver.url });
    expect([refused.status, refused.json.error.code]).toEqual([403, "insufficient_permissions"]);
    expect((await world.bob.call("POST", path, { url: receiver.url })).status).toBe(404);
    const plain = await world.ann.call("POST", path, { url: "http://example.com/hook" });
    expect([plain.status, plain.json.error.param]).toEqual([400, "url"]);
    expect(ids(await world.mem.call("GET", "/webhook_deliveries"))).not.toContain(sent.json.id);
  });
});
