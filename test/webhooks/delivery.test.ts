/** One callback from its task's end to its receiver: the request, which answers count as delivered, and when it is retried. */
import { beforeAll, expect, it } from "vitest";
import type { Database } from "../../src/storage/index.ts";
import { pausesMs } from "../../src/tasks/webhooks/schedule.ts";
import {
  createSender,
  enqueueCallback,
  type DelivererOptions,
} from "../../src/tasks/webhooks/index.ts";
import { enableSigning } from "../../src/tenancy/index.ts";
import { describeDatabase } from "../support/postgres.ts";
import {
  newDeliverer,
  newTenant,
  render,
  startReceiver,
  until,
  type TestTenant,
} from "./support.ts";

/** Runs a deliverer while `work` runs. */
async function delivering(
  tenant: TestTenant,
  work: () => Promise<void>,
  options: Partial<DelivererOptions> = {},
): Promise<void> {
  const deliverer = newDeliverer(tenant.database, tenant.clock, options);
  deliverer.start();
  try {
    await work();
  } finally {
    await deliverer.close();
  }
}

describeDatabase("callbacks", (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  it("the end of a task is posted once, in the unified shape and with every header", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    for (const status of ["succeeded", "failed", "expired", "canceled"] as const) {
      const taskId = await tenant.end(receiver.url, status);
      const sent = receiver.received.length;
      await delivering(tenant, async () => {
        await until(async () => (await tenant.delivery(taskId)).status === "delivered");
      });
      expect(receiver.received).toHaveLength(sent + 1);
      const { body, headers, path } = receiver.received.at(-1)!;
      const { id, createdAt } = await tenant.delivery(taskId);
      expect(id).toMatch(/^evt_[0-9a-z]{26}$/);
      expect(path).toBe("/hook");
      const event = JSON.parse(body) as { data: { id: string } };
      expect(Object.keys(event)).toEqual(["id", "type", "created_at", "data"]);
      expect(event).toMatchObject({
        id,
        type: `task.${status}`,
        created_at: createdAt.toISOString(),
        data: { id: taskId, status, model: "acme/clip", output: { images: [], videos: [] } },
      });
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "user-agent": "tollgate",
        "gw-event-id": id,
        "gw-delivery-attempt": "1",
        "gw-signature": expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
        "webhook-id": id,
        "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
        "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      });
    }
  });

  it("a rolled back end leaves no callback, and a task has one callback even if it is enqueued twice", async () => {
    const tenant = await newTenant(database);
    const callback = {
      workspaceId: tenant.workspaceId,
      taskId: "task_1",
      type: "task.failed",
      url: "https://receiver.example/",
      nowMs: tenant.clock.now(),
    } as const;
    const failing = tenant.database.transaction(async (tx) => {
      await enqueueCallback(tx, callback);
      throw new Error("the task had ended before");
    });
    await expect(failing).rejects.toThrow("had ended before");
    expect(await tenant.database.query("select id from webhook_deliveries")).toEqual([]);
    await enqueueCallback(tenant.database, callback);
    await enqueueCallback(tenant.database, callback);
    expect(await tenant.database.query("select id from webhook_deliveries")).toHaveLength(1);
  });

  it("a failing receiver is retried by the schedule, with the same text and a new signature, and then given up", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver(500, 301, 404, 429);
    const taskId = await tenant.end(receiver.url);
    let renderings = 0;
    const counted: DelivererOptions["render"] = (task) => {
      renderings += 1;
      return { ...(render(task) as object), renderings };
    };
    const work = async () => {
      for (const [index, pauseMs] of pausesMs.entries()) {
        await until(async () => (await tenant.delivery(taskId)).tries.length === index + 1);
        const { status, dueAt } = await tenant.delivery(taskId);
        expect([status, dueAt!.getTime() - tenant.clock.now()]).toEqual(["pending", pauseMs]);
        tenant.clock.advance(pauseMs - 1);
        await new Promise((resume) => setTimeout(resume, 30));
        expect(receiver.received).toHaveLength(index + 1);
        tenant.clock.advance(1);
      }
      await until(async () => (await tenant.delivery(taskId)).status === "failed");
    };
    await delivering(tenant, work, { render: counted });
    expect(receiver.received).toHaveLength(9);
    expect(new Set(receiver.received.map((one) => one.body)).size).toBe(1);
    expect(new Set(receiver.received.map((one) => one.headers["gw-event-id"])).size).toBe(1);
    expect(new Set(receiver.received.map((one) => one.headers["gw-signature"])).size).toBe(9);
    expect(receiver.received.map((one) => one.headers["gw-delivery-attempt"])).toEqual(
      Array.from({ length: 9 }, (_, index) => String(index + 1)),
    );
    const { tries, dueAt } = await tenant.delivery(taskId);
    expect(tries.map((one) => one.httpStatus)).toEqual([500, 301, 404, ...Array(6).fill(429)]);
    expect(dueAt).toBeNull();
  });

  it.each([
    ["90", 429, 90_000],
    ["600", 503, 600_000],
    ["2", 429, undefined],
    ["soon", 429, undefined],
    ["999999", 429, 3_600_000],
  ])(
    "HOOK-11: Retry-After %s with status %i is respected up to an hour, but never shortens the usual pause",
    async (header, status, askedMs) => {
      const tenant = await newTenant(database);
      const receiver = await startReceiver((response) =>
        response.writeHead(status, { "retry-after": header }).end(),
      );
      const taskId = await tenant.end(receiver.url);
      await delivering(tenant, () =>
        until(async () => (await tenant.delivery(taskId)).tries.length === 1),
      );
      const { status: became, dueAt } = await tenant.delivery(taskId);
      const pauseMs = askedMs === undefined ? pausesMs[0]! : (askedMs * 11) / 10;
      expect([became, dueAt!.getTime() - tenant.clock.now()]).toEqual(["pending", pauseMs]);
    },
  );

  it("status 410 ends the delivery at once", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver(410);
    const taskId = await tenant.end(receiver.url);
    await delivering(tenant, () =>
      until(async () => (await tenant.delivery(taskId)).status === "failed"),
    );
    expect(receiver.received).toHaveLength(1);
  });

  it("a redirect counts as a failure and is not followed", async () => {
    const tenant = await newTenant(database);
    const target = await startReceiver(200);
    const receiver = await startReceiver((response) =>
      response.writeHead(307, { location: target.url }).end(),
    );
    const taskId = await tenant.end(receiver.url);
    await delivering(tenant, () =>
      until(async () => (await tenant.delivery(taskId)).tries.length === 1),
    );
    expect(await tenant.delivery(taskId)).toMatchObject({
      status: "pending",
      tries: [{ httpStatus: 307, error: null }],
    });
    expect(target.received).toEqual([]);
  });

  it("any 2xx status in time counts as delivered, even if the body never ends; a timeout does not", async () => {
    const tenant = await newTenant(database);
    const endless = await startReceiver((response) => {
      response.writeHead(202);
      const pour = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", pour);
      };
      pour();
    });
    const silent = await startReceiver(() => undefined);
    const taken = await tenant.end(endless.url);
    await delivering(tenant, () =>
      until(async () => (await tenant.delivery(taken)).status === "delivered"),
    );
    const untaken = await tenant.end(silent.url);
    await delivering(
      tenant,
      () => until(async () => (await tenant.delivery(untaken)).tries.length === 1),
      { timeoutMs: 300 },
    );
    const [one] = (await tenant.delivery(untaken)).tries;
    expect(one).toMatchObject({ httpStatus: null, error: "no answer within 300 ms" });
    expect(one!.durationMs).toBeGreaterThanOrEqual(290);
    expect(one!.durationMs).toBeLessThan(30_000);
  });

  it("T77: the address is checked and pinned at each attempt, and private addresses are not called", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    const urls = [
      receiver.url.replace("localhost", "127.0.0.1"),
      receiver.url.replace("localhost", "[::ffff:127.0.0.1]"),
      receiver.url.replace("localhost", "receiver.example"),
      "https://169.254.169.254/latest/meta-data",
      receiver.url.replace("https", "http").replace("localhost", "receiver.example"),
    ];
    const tasks: string[] = [];
    for (const url of urls) tasks.push(await tenant.end(url));
    const errors = async () => {
      const deliveries = await Promise.all(tasks.map((task) => tenant.delivery(task)));
      return deliveries.map(({ tries }) => tries[0]?.error);
    };
    // The name resolved to another address when the task was created.
    const resolve = () => Promise.resolve([{ address: "127.0.0.1", family: 4 as const }]);
    await delivering(
      tenant,
      () => until(async () => (await errors()).every((error) => error !== undefined)),
      { send: createSender({ allowPrivate: false, resolve }) },
    );
    expect(receiver.received).toEqual([]);
    const refused = expect.stringContaining("private or reserved network") as string;
    const plain = expect.stringContaining("must begin with https://") as string;
    expect(await errors()).toEqual([refused, refused, refused, refused, plain]);
  });

  it("a workspace with signing disabled sends nothing, and the delivery has the reason", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    await enableSigning(tenant, tenant.workspaceId, false);
    const taskId = await tenant.end(receiver.url);
    await delivering(tenant, () =>
      until(async () => (await tenant.delivery(taskId)).status === "failed"),
    );
    expect(receiver.received).toEqual([]);
    expect((await tenant.delivery(taskId)).tries).toMatchObject([
      { httpStatus: null, error: expect.stringContaining("not signed") as string },
    ]);
  });

  it("an event that cannot be rendered is retried like a refused one", async () => {
    const tenant = await newTenant(database);
    const receiver = await startReceiver();
    const taskId = await tenant.end(receiver.url);
    let broken = true;
    const sometimes: DelivererOptions["render"] = (task) => {
      if (broken) throw new Error("a bug");
      return render(task);
    };
    await delivering(
      tenant,
      async () => {
        await until(async () => (await tenant.delivery(taskId)).tries.length === 1);
        broken = false;
        tenant.clock.advance(pausesMs[0]!);
        await until(async () => (await tenant.delivery(taskId)).status === "delivered");
      },
      { render: sometimes },
    );
    expect((await tenant.delivery(taskId)).tries[0]!.error).toMatch(/could not be made/);
  });
});
