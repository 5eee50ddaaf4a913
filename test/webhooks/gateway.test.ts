/** Callbacks through the running gateway: rows HOOK, on videos made by the sandbox's vendors, to a real HTTPS receiver. */
import { createHmac } from "node:crypto";
import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { pausesMs } from "../../src/tasks/webhooks/schedule.ts";
import { redeliver, sendTest } from "../../src/tasks/index.ts";
import { enableSigning, readSigningSecret, rotateSigningSecret } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import {
  deliveriesOf,
  masterKey,
  secrets,
  startReceiver,
  until,
  type Received,
} from "./support.ts";

interface TaskJson {
  readonly id: string;
  readonly status: string;
  readonly cost: string;
}

const tasks = { timing: { firstPollMs: 20, sweepMs: 50 }, callbackEveryMs: 20 };
const environment = { TOLLGATE_MASTER_KEY: masterKey.toString("base64") };

describe("callbacks of a gateway", () => {
  /** Tests that wait for hours move the clock by this. */
  let aheadMs = 0;
  const clock = { now: () => Date.now() + aheadMs };
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway({
      clock,
      tasks,
      environment: { ...environment, TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
    });
  });
  afterAll(() => gateway.close());

  const context = () => ({ database: gateway.database, clock, secrets });
  const secret = async () => (await readSigningSecret(context(), gateway.workspaceId)).secret;

  /** Creates a video task. `script` is the sandbox's. */
  async function create(
    url: string,
    script: object = {},
    model = "sandbox/video-model-v1",
  ): Promise<TaskJson> {
    const answer = await gateway.post("/v1/tasks", {
      model,
      prompt: `A tram.\n#sandbox ${JSON.stringify(script)}`,
      duration: 2,
      webhook_url: url,
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.any(String)]);
    return JSON.parse(text) as TaskJson;
  }
  const read = async (id: string) =>
    (await (await gateway.get(`/v1/tasks/${id}`)).json()) as TaskJson;
  const becomes = (id: string, status: string) =>
    until(async () => (await read(id)).status === status);
  const delivery = async (taskId: string) =>
    (await deliveriesOf(gateway.database, gateway.workspaceId, taskId))[0];
  const settled = (taskId: string) =>
    until(async () => ["delivered", "failed"].includes((await delivery(taskId))?.status ?? ""));

  it("HOOK-01 VID-23: a task that ends, in any state, is posted to its webhook_url", async () => {
    const scripts = {
      succeeded: {},
      failed: { task_outcome: "failed" },
      expired: { task_outcome: "expired" },
      canceled: { task_seconds: 60 },
    };
    for (const [status, script] of Object.entries(scripts)) {
      const receiver = await startReceiver();
      // The vendor of this model cancels jobs that have not begun; the other vendor does not cancel.
      const model = status === "canceled" ? "sandbox/video-model-seconds" : undefined;
      const { id } = await create(receiver.url, script, model);
      if (status === "canceled") await gateway.post(`/v1/tasks/${id}/cancel`, {});
      await settled(id);
      expect(receiver.received).toHaveLength(1);
      expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
        type: `task.${status}`,
        data: { id, status },
      });
    }
  });

  it("HOOK-01: an address without slashes before its host has its host in the outbox, which limits calls of one host", async () => {
    const receiver = await startReceiver();
    const { id } = await create(receiver.url.replace("https://", "https:"));
    await settled(id);
    expect(receiver.received).toHaveLength(1);
    const [row] = await gateway.database.query<{ host: string | null }>(
      "select host from webhook_deliveries where task_id = $1",
      [id],
    );
    expect(row!.host).toBe(new URL(receiver.url).host);
  });

  it("HOOK-02: nothing is posted while the task is queued or running", async () => {
    const receiver = await startReceiver();
    const { id } = await create(receiver.url, { task_seconds: 1.5 });
    const seen = new Set<string>();
    for (;;) {
      const before = receiver.received.length;
      const { status } = await read(id);
      seen.add(status);
      if (status === "succeeded") break;
      expect(before).toBe(0);
    }
    expect(seen).toContain("running");
    await settled(id);
    expect(receiver.received).toHaveLength(1);
  });

  it("HOOK-03 HOOK-04 HOOK-10: the signature verifies with the workspace's secret, and not with an altered body", async () => {
    const receiver = await startReceiver();
    const { id } = await create(receiver.url);
    await settled(id);
    const { headers, rawHeaders, body } = receiver.received[0]!;
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(
      headers["gw-signature"] as string,
    )!;
    // TXT-21: spelled as in the documents, for receivers that compare the bytes of names.
    expect(rawHeaders).toEqual(
      expect.arrayContaining(["Gw-Signature", "Gw-Event-Id", "Gw-Delivery-Attempt"]),
    );
    expect(Math.abs(Number(time) - clock.now() / 1000)).toBeLessThan(30);
    const sign = async (text: string) =>
      createHmac("sha256", await secret())
        .update(`${time}.${text}`)
        .digest("hex");
    expect(signature).toBe(await sign(body));
    expect(signature).not.toBe(await sign(body.replace("succeeded", "failed")));
    const library = new Webhook(await secret());
    const signed = headers as Record<string, string>;
    expect(library.verify(body, signed)).toEqual(JSON.parse(body));
    expect(() => library.verify(`${body} `, signed)).toThrow("No matching signature");
    const others = new Webhook(secrets.signingSecret("ws_other", 1));
    expect(() => others.verify(body, signed)).toThrow("No matching signature");
  });

  it("HOOK-05: every request is signed: first attempts, retries, redeliveries and tests, also during a rotation", async () => {
    const receiver = await startReceiver(500, 200);
    const { id } = await create(receiver.url);
    await until(() => receiver.received.length === 1);
    await until(async () => (await delivery(id))!.tries.length === 1);
    await redeliver(context(), (await delivery(id))!);
    await settled(id);
    await rotateSigningSecret(context(), gateway.workspaceId);
    await redeliver(context(), (await delivery(id))!);
    await until(() => receiver.received.length === 3);
    await sendTest(context(), { workspaceId: gateway.workspaceId, url: receiver.url });
    await until(() => receiver.received.length === 4);
    await enableSigning(context(), gateway.workspaceId, false);
    await redeliver(context(), (await delivery(id))!);
    await until(async () => (await delivery(id))!.status === "failed");
    await enableSigning(context(), gateway.workspaceId, true);
    const one = /^t=\d+,v1=[0-9a-f]{64}$/;
    const two = /^t=\d+(,v1=[0-9a-f]{64}){2}$/;
    expect(receiver.received.map(({ headers }) => headers["gw-signature"])).toEqual(
      [one, one, two, two].map((pattern) => expect.stringMatching(pattern) as string),
    );
  });

  it("HOOK-06: without a signing secret a task succeeds, and its receiver gets no request", async () => {
    const receiver = await startReceiver();
    await enableSigning(context(), gateway.workspaceId, false);
    const { id } = await create(receiver.url);
    await becomes(id, "succeeded");
    await settled(id);
    await enableSigning(context(), gateway.workspaceId, true);
    expect((await delivery(id))!.status).toBe("failed");
    expect(receiver.received).toEqual([]);
  });

  it("HOOK-09: the payload is the event's id, type and time, and the task as GET returns it", async () => {
    const receiver = await startReceiver();
    for (const script of [{}, { task_outcome: "failed" }]) {
      const { id } = await create(receiver.url, script);
      await settled(id);
      const { body, headers } = receiver.received.at(-1)!;
      const task = await read(id);
      expect(JSON.parse(body)).toEqual({
        id: headers["gw-event-id"],
        type: `task.${task.status}`,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        data: task,
      });
      expect(headers["content-type"]).toBe("application/json");
    }
  });

  it("HOOK-11: a failing receiver is tried nine times in 28 hours with the same event id, and 410 ends the attempts", async () => {
    const failing = await startReceiver(500);
    const gone = await startReceiver(410);
    const { id } = await create(failing.url);
    const other = await create(gone.url);
    await settled(other.id);
    for (const [index, pauseMs] of pausesMs.entries()) {
      await until(async () => (await delivery(id))?.tries.length === index + 1);
      const { dueAt } = (await delivery(id))!;
      expect(dueAt!.getTime() - clock.now()).toBeGreaterThan(pauseMs * 0.8 - 3_000);
      expect(dueAt!.getTime() - clock.now()).toBeLessThanOrEqual(pauseMs * 1.2);
      aheadMs += pauseMs * 1.2;
    }
    await settled(id);
    expect(failing.received).toHaveLength(9);
    const distinct = (of: (one: Received) => unknown) => new Set(failing.received.map(of)).size;
    expect(distinct((one) => one.headers["gw-event-id"])).toBe(1);
    expect(distinct((one) => one.body)).toBe(1);
    expect(distinct((one) => one.headers["gw-delivery-attempt"])).toBe(9);
    expect(gone.received).toHaveLength(1);
    aheadMs = 0;
  });
});

describe("the webhook_url of a task", () => {
  let gateway: GatewayUnderTest;
  beforeAll(async () => {
    gateway = await startTestGateway({ tasks, environment });
  });
  afterAll(() => gateway.close());

  /** Expects that a task with this address is refused and nothing is stored. Returns the message. */
  async function refused(url: unknown): Promise<string> {
    const answer = await gateway.post("/v1/tasks", {
      model: "sandbox/video-model-seconds",
      prompt: "A tram.",
      duration: 2,
      webhook_url: url,
    });
    const { error } = (await answer.json()) as { error: Record<string, string> };
    expect([url, answer.status, error["param"]]).toEqual([url, 400, "webhook_url"]);
    // docs/decisions.md "Error types and codes"
    const code = typeof url === "string" ? "invalid_webhook_url" : "invalid_type";
    expect([url, error["code"]]).toEqual([url, code]);
    const { data } = (await (await gateway.get("/v1/tasks")).json()) as { data: unknown[] };
    expect(data).toEqual([]);
    const rows = await gateway.database.query("select 1 from webhook_deliveries");
    expect(rows).toEqual([]);
    return error["message"]!;
  }

  it("HOOK-07: is refused with the submission if it is not HTTPS", async () => {
    const others = ["http://example.com/hook", "ftp://example.com/", "example.com", "", 7, {}];
    for (const url of others) await refused(url);
  });

  it("HOOK-08: is refused if its host is a private address in any notation", async () => {
    const hosts = (
      "127.0.0.1 127.1 2130706433 0x7f.1 0.0.0.0 localhost a.localhost 10.0.0.1 10.255.255.255 " +
      "172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 " +
      "[::1] [::] [::ffff:10.0.0.1] [fe80::1] [fd00::1] [64:ff9b::a00:1]"
    ).split(" ");
    for (const host of hosts) await refused(`https://${host}/hook`);
  });

  it("HOOK-08: is refused if its name resolves to a private network", async () => {
    // The machine's own name resolves to itself, if it resolves at all.
    const name = hostname();
    const found = await lookup(name, { all: true }).catch(() => []);
    expect(await refused(`https://${name}:8443/hook`)).toMatch(
      found.length > 0 ? /private or reserved network/ : /does not exist/,
    );
  });
});
