// Three gateways on one database, two of them with a clock that is an hour off. No gateway takes over a task that another works
// on, and no callback comes early. docs/tasks.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { adminToken, call } from "../admin/support.ts";
import { ledgerReaderOf, eventually } from "../money/support.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { endAll, live, liveHere, type Life } from "../support/task-life.ts";
import {
  clipModel,
  configurationOf,
  oneKey,
  saysTakenAnew,
  startArkVendor,
  type ArkVendor,
} from "../tasks/support.ts";

const preload = new URL("./shifted-clock.mjs", import.meta.url).href;
const hourMs = 3_600_000;
/** Long enough for the other gateways to look for due work many times, including work that a wrong clock would see as due. */
const workMs = 1_500;

let vendor: ArkVendor;
let database: Database;
type Node = Pick<Life, "url" | "key" | "end">;
let lives: Node[];
/** It runs in this process: only a gateway with a wrong clock needs its own. */
let right: Node;

beforeAll(async () => {
  vendor = await startArkVendor();
  const url = await (await sharedPostgres()).createMigrated();
  database = await openDatabase({ url, log: silentLog });
  const directory = temporaryDirectory();
  const config = join(directory, "tollgate.yaml");
  writeFileSync(
    config,
    configurationOf([oneKey("ark", vendor)], [clipModel("acme/clip", ["ark"])]),
  );
  const environment = {
    TOLLGATE_DATA_DIR: directory,
    TOLLGATE_CONFIG: config,
    DATABASE_URL: url,
    TEST_LEASE_MS: "60000",
    TOLLGATE_ADMIN_TOKEN: adminToken,
  };
  const startOff = (name: string, ms: number) => {
    const file = join(directory, name);
    writeFileSync(file, String(ms));
    return live({
      ...environment,
      TOLLGATE_TEST_CLOCK_FILE: file,
      NODE_OPTIONS: `--import=${preload}`,
    });
  };
  right = await liveHere({ ...environment, TOLLGATE_INITIAL_CREDIT: "1000" });
  await database.query(
    `insert into webhook_deliveries (workspace_id, id, type, url, body, due_at, created_at, updated_at)
     select id, 'evt_later', 'webhook.test', 'https://example.com/', '{}', now() + interval '10 minutes', now(), now()
     from workspaces`,
    [],
  );
  lives = [right, await startOff("ahead", hourMs), await startOff("behind", -hourMs)];
});
afterEach(({ task }) => {
  if (task.result?.state === "fail") endAll();
});
afterAll(async () => {
  await Promise.all((lives ?? []).map((life) => life.end()));
  await database?.close();
  await vendor?.close();
});

const send = (life: Node, path: string, body?: object) =>
  fetch(life.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${right.key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

it("T79 T81: a task that one gateway submits is not taken over by another one whose clock is wrong", async () => {
  const taken = saysTakenAnew();
  vendor.plan("POST", (response, request) => {
    setTimeout(() => taken(response, request), workMs);
  });
  vendor.plan("GET", vendor.done);
  const clip = { model: "acme/clip", prompt: "A boat", duration: 2 };
  const made = await Promise.all(
    lives.map(async (life) => {
      const answer = await send(life, "/v1/tasks", clip);
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  const tasks = await eventually(
    async () => {
      const rows = await database.query<{ status: string; error: unknown; ms: number }>(
        `select status, error, (extract(epoch from created_at - now()) * 1000)::float8 as ms from tasks
         where id = any($1) and due_at is null`,
        [made],
      );
      return rows.length === made.length ? rows : undefined;
    },
    "the end of every task",
    30_000,
  );
  expect(tasks.map(({ status, error }) => ({ status, error }))).toEqual(
    made.map(() => ({ status: "succeeded", error: null })),
  );
  // The times of the tasks are the database's too, whichever gateway wrote them.
  expect(tasks.filter(({ ms }) => Math.abs(ms) > hourMs / 2)).toEqual([]);
  expect(vendor.calls("POST")).toHaveLength(made.length);
  await ledgerReaderOf(database).expectClean();
});

it("HOOK-11: a delivery that is due later is not attempted early by a gateway with a wrong clock", async () => {
  const [row] = await database.query<{ later: boolean; attempts: number }>(
    "select due_at > now() + interval '5 minutes' as later, attempts from webhook_deliveries where id = 'evt_later'",
    [],
  );
  expect(row).toEqual({ later: true, attempts: 0 });
});

it("a rotated key's old value without grace fails at once on each gateway, whatever its clock", async () => {
  const [workspace] = await database.query<{ id: string }>("select id from workspaces", []);
  const manage = (path: string, body: object) =>
    call(right.url, "POST", path, { token: adminToken, body });
  const made = (await manage("/keys", { workspace_id: workspace!.id, name: "old" })).json;
  const use = async (life: Node) => {
    const headers = { authorization: `Bearer ${made.key}` };
    return (await fetch(`${life.url}/v1/tasks`, { headers })).status;
  };
  expect(await Promise.all(lives.map(use))).toEqual([200, 200, 200]);
  const rotated = await manage(`/keys/${made.id}/rotate`, { grace_seconds: 0 });
  expect(rotated.status).toBe(200);
  const old = () => Promise.all(lives.map(use));
  await expect.poll(old).toEqual([401, 401, 401]);
});
