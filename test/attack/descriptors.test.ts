/**
 * More connections than the process may have open files. Other callers are served, or told at once to retry, and no vendor's
 * health suffers. When the attacker has gone, everything works as before.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { closeAll, openRaw, type RawClient } from "./raw-clients.ts";
import { measureAgain, stallMsMax } from "./support.ts";

const openFiles = 400;
const connections = 500;
/** In the short form only a server: callers' connections are counted in one place, whichever database is used. */
const kinds = shortOrLong<readonly ("embedded" | "server")[]>(["server"], ["embedded", "server"]);
const adminToken = "admin-token-of-the-descriptor-attack";

describe.each(kinds)("500 connections on 400 open files, %s", (kind) => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-attack-"));
  let gateway: GatewayProcess;
  let environment: Record<string, string>;
  let key: string;
  beforeAll(async () => {
    environment = {
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_ADMIN_TOKEN: adminToken,
      TOLLGATE_LOG_LEVEL: "error",
      ...(kind === "server"
        ? { DATABASE_URL: await (await sharedPostgres()).createMigrated() }
        : {}),
    };
    gateway = await spawnGateway(environment, { openFiles });
    key = /gw_live_\w+/.exec(gateway.banner)![0];
  });
  afterAll(async () => {
    await gateway.kill();
    rmSync(directory, { recursive: true, force: true });
  });

  const chat = (content: string) => ({
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content }] }),
  });
  const get = (path: string, bearer = adminToken): Promise<Response> =>
    fetch(gateway.url + path, { headers: { authorization: `Bearer ${bearer}` } });

  /** Each connection makes a call whose vendor takes two seconds, so that all are open at once. */
  async function attackOnce(counts: Map<string, number>): Promise<void> {
    const slow = chat('Hi\n#sandbox {"delay_ms": 2000}');
    const clients: RawClient[] = [];
    for (let index = 0; index < connections; index += 1) clients.push(openRaw(gateway.url, slow));
    const deadline = performance.now() + shortOrLong(120_000, 20_000);
    const isDone = (client: RawClient): boolean =>
      client.closed() || /\r\n\r\n./s.test(client.text());
    while (!clients.every(isDone) && performance.now() < deadline) await sleep(50);
    for (const client of clients) {
      const retryAfter = /\r\nretry-after: [1-9]/i.test(client.text());
      const name = `${client.status() ?? "nothing"}${retryAfter ? " with Retry-After" : ""}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    closeAll(clients);
  }

  it("give every caller 200 or an immediate 503, and leave no trace", async () => {
    const counts = new Map<string, number>();
    const figures = await measureAgain(
      `descriptors, ${kind}`,
      { url: gateway.url, pid: gateway.child.pid!, key },
      async () => {
        for (let round = 0; round < shortOrLong(1, 20); round += 1) await attackOnce(counts);
      },
    );
    console.log(`attack: descriptors, ${kind}: the attacker's answers`, counts);
    expect([...counts.keys()].filter((name) => !/^(200|503 with Retry-After)$/.test(name))).toEqual(
      [],
    );
    expect(counts.get("200")).toBeGreaterThan(0);
    expect(figures.failed - figures.refused).toBe(0);
    expect(figures.stallMs).toBeLessThan(stallMsMax);
    expect(figures.memoryMax).toBeLessThan(1.5e9);

    const after = () =>
      Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await fetch(gateway.url + chat("").path, {
            method: "POST",
            headers: { ...chat("").headers, "content-type": "application/json" },
            body: chat("Hello").body,
          });
          await response.arrayBuffer();
          return response.status;
        }),
      );
    // The attackers' descriptors are released as their connections end.
    await expect.poll(async () => new Set(await after())).toEqual(new Set([200]));
    expect((await get("/readyz")).status).toBe(200);
    const providers = await (await get("/admin/v1/providers")).text();
    const states = [...providers.matchAll(/"health":\{"state":"(\w+)"/g)].map(([, state]) => state);
    expect(new Set(states)).toEqual(new Set(["ready"]));
    expect(providers).not.toMatch(/"out":\[[^\]]/);
    const books = await tollgateHere(["verify"], environment);
    expect(books).toMatchObject({ code: 0 });
  });
});
