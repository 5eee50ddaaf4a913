/** The embedded server while the gateway runs: restarted when it dies, and reachable only by its owner. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepAlive } from "../../src/embedded/engine.ts";
import { isTransient, migrate, openDatabase } from "../../src/storage/index.ts";
import { serverPid } from "../support/embedded.ts";
import { preparedDataDir, silentLog } from "../support/postgres.ts";

const mainProcess = "its main process";
const ofConnection = "the process of a connection";

it.each([mainProcess, ofConnection])(
  "T65: the embedded server is restarted when %s dies, with the same rows and working signals",
  async (which) => {
    const dataDir = await preparedDataDir();
    const said: unknown[] = [];
    const log = { ...silentLog, error: (_: object, message: string) => said.push(message) };
    const database = await openDatabase({ dataDir, log });
    await migrate(database);
    await database.query("insert into settings (name, value) values ('kept', '1')");
    let reconnects = 0;
    database.signals.onReconnect(() => (reconnects += 1));
    const got: string[] = [];
    database.signals.subscribe("keys", (payload) => got.push(payload));
    await expect.poll(() => reconnects).toBe(1);

    const server = serverPid(dataDir);
    const inside = database.transaction(async (tx) => {
      await tx.query("insert into settings (name, value) values ('lost', '1')");
      const [own] = await tx.query<{ pid: number }>("select pg_backend_pid() as pid");
      process.kill(which === ofConnection ? own!.pid : server, "SIGKILL");
      await expect.poll(() => said).toContain("the embedded database ended; it is started again");
      await tx.query("select 1");
    });
    expect(isTransient(await inside.catch((error: unknown) => error))).toBe(true);

    await expect
      .poll(() => database.query("select 1 as one", []).catch(() => undefined))
      .toEqual([{ one: 1 }]);
    expect(serverPid(dataDir)).not.toBe(server);
    expect(await database.query("select name from settings", [])).toEqual([{ name: "kept" }]);
    await expect.poll(() => reconnects).toBe(2);
    await database.signals.publish("keys", "again");
    await expect.poll(() => got).toEqual(["again"]);
    await database.close();
  },
);

it("a server that ends again and again soon after its start is started at once, then at growing intervals", async () => {
  const beganMs = performance.now();
  const startedMs: number[] = [];
  const dead = { ended: Promise.resolve(), stop: () => Promise.resolve() };
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const close = keepAlive(
    dead,
    async () => {
      if (startedMs.push(performance.now() - beganMs) === 4) resolve();
      return dead;
    },
    silentLog,
  );
  await started;
  await close();
  // After 0, 100, 300 and 700 ms.
  expect(startedMs).toHaveLength(4);
  expect(startedMs[2]).toBeGreaterThan(290);
  expect(startedMs[3]).toBeGreaterThan(690);
});

it.skipIf(process.platform === "win32")(
  "the socket and the data directory are accessible to their owner only",
  async () => {
    const dataDir = await preparedDataDir();
    const database = await openDatabase({ dataDir, log: silentLog });
    expect(statSync(dataDir).mode & 0o077).toBe(0);
    const { host } = JSON.parse(readFileSync(join(dataDir, "gateway.json"), "utf8")) as {
      host: string;
    };
    expect(statSync(host).mode & 0o077).toBe(0);
    await database.close();
  },
);
