/**
 * L4: a gateway that is stopped (SIGSTOP) inside a transaction keeps its locks until the server ends the transaction. Other
 * workspaces on other gateways do not notice. Calls of the same workspace wait a few seconds at most, and a stream that ends
 * meanwhile is charged.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { adminToken, call } from "../admin/support.ts";
import { eventually } from "../money/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { startStoppingProxy, type StoppingProxy } from "./stopping-proxy.ts";

/** The statement that reserves the bound of an image call, in a transaction of the gateway. */
const holding = /ledger_(?:hold|reserve)/;
/** Other workspaces do not wait; on a busy machine the limit is still far from 60 s. */
const promptMsMax = 2_500;
/** Calls that need the same account wait until the server ends the transaction: 3 s, and some for a busy machine. */
const lockedMsMax = 15_000;

interface Tenant {
  readonly workspaceId: string;
  readonly key: string;
}

describe("a gateway that is stopped inside a transaction", () => {
  let proxy: StoppingProxy;
  let database: Database;
  let stopped: GatewayProcess;
  let running: GatewayUnderTest;
  let one: Tenant;
  let other: Tenant;

  const admin = async (method: string, path: string, body?: object) => {
    const answer = await call(running.url, method, path, { token: adminToken, body });
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    return answer.json;
  };

  async function newTenant(name: string): Promise<Tenant> {
    const { id } = await admin("POST", "/workspaces", { name });
    await admin("POST", `/workspaces/${id}/credits`, { amount: "1000" });
    const { key } = await admin("POST", "/keys", { workspace_id: id, name });
    return { workspaceId: id, key };
  }

  beforeAll(async () => {
    const url = await (await sharedPostgres()).createMigrated();
    proxy = await startStoppingProxy(url);
    database = await openDatabase({ url, log: silentLog });
    const masterKey = randomBytes(32).toString("base64");
    const environment = (databaseUrl: string) => ({
      DATABASE_URL: databaseUrl,
      TOLLGATE_DATA_DIR: temporaryDirectory(),
      TOLLGATE_ADMIN_TOKEN: adminToken,
      TOLLGATE_MASTER_KEY: masterKey,
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "silent",
    });
    [stopped, running] = await Promise.all([
      spawnGateway(environment(proxy.url)),
      startTestGateway({ environment: environment(url) }),
    ]);
    one = await newTenant("one");
    other = await newTenant("other");
  });
  afterAll(async () => {
    stopped.child.kill("SIGCONT");
    await Promise.all([stopped.kill(), running.close()]);
    proxy.close();
    await database.close();
  });

  const post = (gateway: { readonly url: string }, { key }: Tenant, path: string, body: object) =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });

  const chat = (tenant: Tenant, stream = false) => {
    const script = stream
      ? {
          reply: "one two three four five six",
          chunk_delay_ms: 250,
          usage: { input: 9, output: 9 },
        }
      : { reply: "short", usage: { input: 9, output: 9 } };
    const content = `#sandbox ${JSON.stringify(script)}`;
    const body = { model: "sandbox/chat", stream, messages: [{ role: "user", content }] };
    return post(running, tenant, "chat/completions", body);
  };

  const image = (gateway: { readonly url: string }, tenant: Tenant) =>
    post(gateway, tenant, "images/generations", {
      model: "sandbox/image-model-a",
      prompt: "a cube",
      size: "16x16",
      quality: "low",
    });

  async function timed(work: () => Promise<Response>): Promise<{ status: number; ms: number }> {
    const from = performance.now();
    const response = await work();
    await response.text();
    return { status: response.status, ms: performance.now() - from };
  }

  it("T67 T68: delays no other workspace, its own only until the server ends the transaction, and a completed stream is charged", async () => {
    // The gateway knows both, as during normal operation.
    for (const tenant of [one, other]) expect((await timed(() => chat(tenant))).status).toBe(200);
    const streamed = await chat(one, true);
    const inside = proxy.inside(holding, () => void stopped.child.kill("SIGSTOP"));
    const hanging = image(stopped, one).then(
      (response) => response.status,
      () => 0,
    );
    await inside;

    const same = timed(() => chat(one));
    const otherImage = timed(() => image(running, other));
    const others: { status: number; ms: number }[] = [];
    for (let round = 0; round < 10; round += 1) others.push(await timed(() => chat(other)));
    expect(others.filter(({ status, ms }) => status !== 200 || ms > promptMsMax)).toEqual([]);

    const text = await streamed.text();
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    const id = streamed.headers.get("x-request-id")!;
    const entry = await eventually(
      async () => {
        const sql = "select kind from ledger_entries where reference = $1";
        return (await database.query<{ kind: string }>(sql, [id]))[0];
      },
      "the stream's entry",
      lockedMsMax,
    );
    expect(entry.kind).toBe("charge");
    for (const { status, ms } of [await same, await otherImage]) {
      expect([200, 503]).toContain(status);
      expect(ms).toBeLessThan(lockedMsMax);
    }
    expect((await timed(() => chat(one))).status).toBe(200);

    stopped.child.kill("SIGCONT");
    expect([200, 503]).toContain(await hanging);
    await expect
      .poll(() => database.query("select 1 from ledger_accounts where held_nano <> 0"), {
        timeout: lockedMsMax,
      })
      .toEqual([]);
    expect(await verifyLedger(database)).toEqual([]);
  });
});
