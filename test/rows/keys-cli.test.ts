/**
 * Keys created and changed by commands while gateways run: a running gateway applies each command at once. Tested on the embedded
 * database with separate processes, and with two gateways on PostgreSQL. KEY rows; T73.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { tollgate } from "../support/process.ts";
import { allStatuses, callAllEndpoints } from "./endpoints.ts";
import { chat } from "./protocols.ts";
import { answering, costAtFirstNano, readEvents, startWorld, stream, type World } from "./world.ts";

describe.each(["embedded", "PostgreSQL, two nodes"] as const)("%s", (kind) => {
  let nodes: readonly World[] = [];
  let environment: Record<string, string> = {};
  let id = "";
  let key = "";

  beforeAll(async () => {
    if (kind === "embedded") {
      nodes = [await startWorld({ embedded: true })];
      environment = { TOLLGATE_DATA_DIR: nodes[0]!.dataDir, DATABASE_URL: "" };
    } else {
      const databaseUrl = await (await sharedPostgres()).createMigrated();
      const masterKey = randomBytes(32).toString("base64");
      const one = await startWorld({ databaseUrl, masterKey });
      nodes = [one, await startWorld({ databaseUrl, masterKey, beside: one })];
      environment = { DATABASE_URL: databaseUrl, TOLLGATE_MASTER_KEY: masterKey };
    }
    nodes[0]!.answer(answering);
  });
  afterAll(async () => {
    for (const node of [...nodes].reverse()) await node.close();
  });

  const run = kind === "embedded" ? tollgate : tollgateHere;
  const keys = (...args: string[]) => run(["keys", ...args], environment);
  const expectEverywhere = async (status: number) => {
    for (const node of nodes)
      expect(await callAllEndpoints(node.gateway.url, key)).toEqual(allStatuses(status));
  };

  it("KEY-06: `keys create` needs a name", async () => {
    const refused = await keys("create");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("--name");
  });

  it("KEY-08 KEY-17: a new key works at once on every endpoint of every node", async () => {
    const made = await keys("create", "--name", "ci", "--json");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    ({ id, key } = JSON.parse(made.stdout) as { id: string; key: string });
    expect(key).toMatch(/^gw_live_[0-9A-Za-z]{49}$/);
    await expectEverywhere(200);
  });

  it("KEY-04: `keys reveal` shows the whole key again", async () => {
    expect((await keys("reveal", id)).stdout.trim()).toBe(key);
  });

  it("KEY-09 KEY-10 T73: a disabled key fails at the first call at every endpoint of every node; enabled, it works again", async () => {
    expect((await keys("disable", id)).code).toBe(0);
    await expectEverywhere(401);
    expect((await keys("enable", id)).code).toBe(0);
    await expectEverywhere(200);
  });

  it("KEY-11 KEY-13 T73: a revoked key fails at the first call, and a call in flight still ends and is charged", async () => {
    const [node] = nodes as [World];
    let finishUpstream = (): void => undefined;
    node.answer(
      stream(chat.frames.slice(0, 2), (upstream) => {
        finishUpstream = () => upstream.end(chat.frames.slice(2).join(""));
      }),
    );
    const before = await node.charged();
    const underWay = node.call(chat, { stream: true, key, model: "acme/chat:first" });
    while (node.first.requests.length === 0) await sleep(5);
    expect((await keys("revoke", id)).code).toBe(0);
    await expectEverywhere(401);
    finishUpstream();
    expect(chat.endsNormally(await readEvents(await underWay))).toBe(true);
    expect((await node.charged()) - before).toBe(costAtFirstNano);
    // The end of the call did not reactivate the key.
    await expectEverywhere(401);
    expect((await node.charged()) - before).toBe(costAtFirstNano);
  });

  it("KEY-12: a revoked key cannot be enabled", async () => {
    const refused = await keys("enable", id);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/revoked/);
    await expectEverywhere(401);
  });
});
