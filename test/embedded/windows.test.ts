/**
 * The embedded server as it runs on Windows, with PostgreSQL's own `pg_ctl` and a port of loopback. The same programs run here,
 * so everything but Windows itself is real.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { renameSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeAll, expect, it } from "vitest";
import type { Server } from "../../src/embedded/server.ts";
import { connect } from "../../src/storage/connect.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";
import { freePort } from "../../src/embedded/transport.ts";
import { prepareControlled } from "./controlled.ts";

const started: Server[] = [];
/** Made once: each test leaves a stopped database in it. */
let place: Awaited<ReturnType<typeof prepared>>;
beforeAll(async () => {
  place = await prepared();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function prepared() {
  const place = await prepareControlled(temporaryDirectory());
  return {
    ...place,
    async start(port: number): Promise<Server> {
      const server = await place.start(port);
      started.push(server);
      return server;
    },
  };
}

/** The result of a statement at a port, with a password. */
async function asked(port: number, password: string): Promise<unknown> {
  const where = { host: "127.0.0.1", port, user: "postgres", database: "postgres", password };
  const database = connect({ server: where, log: silentLog });
  try {
    return await database.query("select 1 as one", []);
  } finally {
    await database.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    // A zombie (ended, but not yet waited for) still has its process id.
    return !execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith(
      "Z",
    );
  } catch {
    return false;
  }
}

it("the server starts on a loopback port, accepts only its password, and shuts down cleanly", async () => {
  const port = await freePort();
  const server = await place.start(port);
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
  await expect(asked(port, "another")).rejects.toMatchObject({ code: "28P01" });
  await server.stop();
  await server.ended;
  // The server removes postmaster.pid, by which its end is recognised, before it logs the end.
  await expect.poll(() => place.said()).toMatch(/database system is shut down\s*$/);
});

it("a start stops the server of an earlier gateway and uses its data; a server's own end is noticed", async () => {
  await place.start(await freePort());
  const left = place.pid();
  const port = await freePort();
  const server = await place.start(port);
  expect(isAlive(left)).toBe(false);
  expect(place.warned).toEqual([
    "a database server of an earlier gateway still runs; it is stopped",
  ]);
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
  process.kill(place.pid(), "SIGKILL");
  await server.ended;
  await place.start(port);
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
});

it("the server ends when the process of a connection dies, and starts again on its port", async () => {
  const port = await freePort();
  const server = await place.start(port);
  const where = { host: "127.0.0.1", port, user: "postgres", database: "postgres" };
  const client = new Client({ ...where, password: place.password });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  process.kill(rows[0]!.pid, "SIGKILL");
  await server.ended;
  await place.start(port);
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
});

it("a start leaves another server alone if a stale postmaster.pid names its process and port", async () => {
  const other = await prepared();
  const otherPort = await freePort();
  await other.start(otherPort);
  writeFileSync(
    join(place.cluster, "postmaster.pid"),
    `${other.pid()}\n${place.cluster}\n1\n${otherPort}\n\n127.0.0.1\n\nready\n`,
  );
  const port = await freePort();
  await place.start(port);
  expect(await asked(otherPort, other.password)).toEqual([{ one: 1 }]);
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
});

it("the server starts again after a crash even if the password file is gone", async () => {
  const server = await place.start(await freePort());
  process.kill(place.pid(), "SIGKILL");
  await server.ended;
  const file = join(place.cluster, "../password");
  renameSync(file, `${file}.away`);
  const port = await freePort();
  await place.start(port).finally(() => renameSync(`${file}.away`, file));
  expect(await asked(port, place.password)).toEqual([{ one: 1 }]);
});

it("a failed start reports the server's own error", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  await expect(place.start(port)).rejects.toThrow(/did not start: [^]*could not bind/);
  taken.close();
});

it("the server keeps the process alive until it has stopped", () => {
  const child = new URL("./controlled-child.ts", import.meta.url).pathname;
  const said = execFileSync(process.execPath, [child, temporaryDirectory()], { timeout: 60_000 });
  expect(said.toString()).toBe("ended");
});
