// After-call hooks and cache hits, where no hook saw the call whose answer was kept.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import { allow, eventOf, inBothForms, secret } from "../hooks/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";

/** The first gateway has no hook; the second one has one for its key. */
interface GatewayWithKey {
  readonly gateway: GatewayUnderTest;
  readonly key: string;
}

const dataDir = mkdtempSync(join(tmpdir(), "tollgate-heard-"));
let hookServer: Recorder;
let first: GatewayWithKey;
let second: GatewayWithKey;
beforeAll(async () => {
  const shared = { databaseUrl: await (await sharedPostgres()).createMigrated(), dataDir };
  const gateway = await startTestGateway({ ...shared, sandbox: "on" });
  await gateway.credit("10");
  const made = async () =>
    createKey(await gateway.internals(), {
      workspaceId: gateway.workspaceId,
      name: "cached",
      createdBy: null,
      responseCache: { ttlSeconds: 600, chargePercent: 0 },
    });
  const [one, other] = [await made(), await made()];
  first = { gateway, key: one.key };
  hookServer = await startRecorder(allow);
  const hook = `  - { name: ear, at: after, url: "${hookServer.url}", secret: ${secret}, keys: [${other.record.id}] }`;
  const hooked = await startTestGateway({ ...shared, sandbox: "on", config: `hooks:\n${hook}\n` });
  second = { gateway: hooked, key: other.key };
});
afterAll(async () => {
  await second?.gateway.close();
  await first?.gateway.close();
  await hookServer?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function ask({ gateway, key }: GatewayWithKey, path: string, body: object) {
  const answer = await gateway.post(path, body, { authorization: `Bearer ${key}` });
  const text = await answer.text();
  const { headers } = answer;
  return { cache: headers.get("x-gw-cache"), id: headers.get("x-request-id")!, text };
}

const text = 'Hello\n#sandbox {"reply":"Good morning"}';

it.each(inBothForms(text))(
  "an after-call hook gets the whole text of a cache hit ($endpoint, stream $stream)",
  async ({ path, body }) => {
    await eventually(async () => (await ask(first, path, body)).cache === "hit", "a kept answer");
    const hit = await ask(second, path, body);
    expect(hit.cache).toBe("hit");
    expect(hit.text).toMatch(/Good/);
    const event = await eventually(
      () => hookServer.requests.map(eventOf).find(({ id }) => id === hit.id),
      "what the hook hears",
    );
    expect((event["answer"] as { text: string }).text).toContain("Good morning");
  },
);

it("a cache hit with an after-call hook may be longer than 700,000 characters", async () => {
  const body = {
    model: "sandbox/chat",
    messages: [{ role: "user", content: '#sandbox {"flood":700000}' }],
  };
  const path = "/v1/chat/completions";
  await eventually(async () => (await ask(first, path, body)).cache === "hit", "a kept answer");
  expect((await ask(second, path, body)).text.length).toBeGreaterThan(700_000);
});
