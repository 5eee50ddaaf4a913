/**
 * Clients that send requests and never read: files of /docs, large answers whole and streamed, downloads. The data that waits for
 * them is bounded, they are cut off when their time is over, and no other caller notices.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { shortOrLong } from "../support/long.ts";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";
import { unreadAt } from "../support/unread.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { bytesOf, closeAll, openRaw, type RawClient, type RawRequest } from "./raw-clients.ts";
import { measureAgain, stallMsMax } from "./support.ts";

/** Each takes some megabytes of the system's buffers: most of what this test costs the machine. */
const connections = shortOrLong(100, 800);
/** The long form uses the default limit. */
const unreadSeconds = shortOrLong(3, 60);
/** More than the system's own buffers of a connection, which take about 3 MB on loopback. */
const answerBytes = 5_000_000;

describe(`${connections} connections that never read`, () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-attack-"));
  let environment: Record<string, string>;
  let gateway: GatewayProcess;
  let key: string;
  beforeAll(async () => {
    const config = join(directory, "tollgate.yaml");
    writeFileSync(config, `limits: { connections: { unread_s: ${unreadSeconds} } }\n`);
    environment = {
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_CONFIG: config,
      TOLLGATE_SANDBOX: "on",
      TOLLGATE_LOG_LEVEL: "error",
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
    };
    gateway = await spawnGateway(environment);
    key = /gw_live_\w+/.exec(gateway.banner)![0];
  });
  afterAll(async () => {
    await gateway.kill();
    rmSync(directory, { recursive: true, force: true });
  });

  const chat = (extra: object): RawRequest => {
    const script = { flood: answerBytes, usage: { input: 1, output: 1 } };
    const messages = [{ role: "user", content: `Hi\n#sandbox ${JSON.stringify(script)}` }];
    return {
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "sandbox/chat", messages, ...extra }),
    };
  };

  /** Makes a file of 20 MB by a task; returns its path. */
  async function makeFile(): Promise<string> {
    const script = { artifact: { padded_bytes: 20_000_000 } };
    const prompt = `A boat\n#sandbox ${JSON.stringify(script)}`;
    const response = await fetch(`${gateway.url}/v1/tasks`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        prefer: "wait=30",
      },
      body: JSON.stringify({ model: "sandbox/video-model-v1", prompt, duration: 2 }),
    });
    return new URL(/"(https?:[^"]*\/files\/[^"]+)"/.exec(await response.text())![1]!).pathname;
  }

  const openFiles = (): number => readdirSync(`/proc/${gateway.child.pid}/fd`).length;

  it(
    "are cut off, while another caller waits less than 250 ms",
    async () => {
      const script = /\/docs\/assets\/[^"]+bundle\.js[^"]*/.exec(
        await (await fetch(`${gateway.url}/docs`)).text(),
      )![0];
      /** Most requests ask for documentation. Large answers also cost the sandbox in the same process, so they are few. */
      const requestOf = (index: number): RawRequest => {
        const kind = index % 80;
        if (kind === 0) return chat({});
        if (kind === 40) return chat({ stream: true });
        return { path: kind % 10 === 5 ? file : script };
      };
      const file = await makeFile();
      const before = openFiles();
      const clients: RawClient[] = [];
      let most = before;
      let stood = 0;
      let left = 0;
      const figures = await measureAgain(
        "unread answers",
        { url: gateway.url, pid: gateway.child.pid!, key },
        async () => {
          for (let index = 0; index < connections; index += 1) {
            const request = requestOf(index);
            const client = openRaw(gateway.url, request, { reads: false });
            if (request.path === script)
              for (let more = 0; more < 20; more += 1) client.socket.write(bytesOf(request));
            clients.push(client);
            // At the pace of the gateway: the test is about the effect of unread answers, not about a queue for the processor.
            if (index % 10 === 0) await (await fetch(`${gateway.url}/healthz`)).arrayBuffer();
            if (index % 10 === 0) await sleep(shortOrLong(100, 300));
            most = Math.max(most, openFiles());
          }
          // By then every answer was written, and no connection that still waits may remain.
          const deadline = performance.now() + (unreadSeconds + 60) * 1000;
          stood = Math.max(stood, unreadAt(gateway.url));
          while (unreadAt(gateway.url) > 0 && performance.now() < deadline) await sleep(200);
          left = unreadAt(gateway.url);
          closeAll(clients.splice(0));
        },
      );
      console.log(
        `attack: unread answers: ${most - before} files open at most, ${stood} unread at the end, ${left} left`,
      );
      expect(stood).toBeGreaterThan(10);
      expect(left).toBe(0);
      expect(figures).toMatchObject({ failed: 0 });
      expect(figures.stallMs).toBeLessThan(stallMsMax);
      expect(figures.memoryMax).toBeLessThan(1.5e9);
      expect(await tollgateHere(["verify"], environment)).toMatchObject({ code: 0 });
    },
    shortOrLong(240_000, 900_000),
  );
});
