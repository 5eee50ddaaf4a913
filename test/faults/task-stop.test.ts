/**
 * SIGSTOP for longer than a lease at the steps of a task's life, while another gateway goes on, and then SIGCONT. No vendor is
 * asked twice, nothing is charged twice, and results that only the stopped gateway has are not lost. docs/tasks.md; T79, T81,
 * T83.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { limitConcurrency } from "../../src/base/concurrency-limit.ts";
import { openDatabase, type Database } from "../../src/storage/index.ts";
import { taskPoints } from "../../src/tasks/index.ts";
import { ledgerReaderOf, eventually } from "../money/support.ts";
import { makeCertificate } from "../support/certificate.ts";
import { shortOrLong } from "../support/long.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";
import {
  clipConfiguration,
  endAll,
  live,
  startVideoVendor,
  type Life,
  type VideoVendor,
} from "../support/task-life.ts";

type Point = (typeof taskPoints)[number];

/**
 * In the short form: before the request to the vendor, and within the transaction of the end. task-kill.test.ts covers the
 * callback.
 */
const stoppedAt = shortOrLong<readonly Point[]>(
  ["ask.intended", "end.written"],
  taskPoints.filter((point) => !point.startsWith("submit.")),
);

let vendor: VideoVendor;
let receiver: Server;
let directory: string;
const databases: Database[] = [];
/** The event ids of every callback that arrived, by task. */
const arrived = new Map<string, string[]>();

beforeAll(async () => {
  vendor = await startVideoVendor();
  directory = temporaryDirectory();
  const certificate = makeCertificate();
  writeFileSync(join(directory, "ca.pem"), certificate.cert);
  writeFileSync(join(directory, "tollgate.yaml"), clipConfiguration(vendor.recorder.url));
  receiver = createServer(certificate, (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const event = JSON.parse(text) as { id: string; data: { id: string } };
      arrived.set(event.data.id, [...(arrived.get(event.data.id) ?? []), event.id]);
      response.end();
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
});
afterEach(endAll);
afterAll(async () => {
  receiver.close();
  receiver.closeAllConnections();
  await Promise.all(databases.map((database) => database.close()));
  await vendor?.recorder.close();
});

interface Installation {
  readonly database: Database;
  /** The environment of its gateways. */
  readonly environment: Record<string, string>;
}

/** A database with its gateways' files: gateways of another installation do not take over its tasks. */
async function install(): Promise<Installation> {
  const url = await (await sharedPostgres()).createMigrated();
  const database = await openDatabase({ url, log: silentLog });
  databases.push(database);
  const environment = {
    TOLLGATE_DATA_DIR: join(directory, `data-${databases.length}`),
    TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
    TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
    NODE_EXTRA_CA_CERTS: join(directory, "ca.pem"),
    DATABASE_URL: url,
    TEST_ABANDON_MS: "60000",
  };
  return { database, environment };
}

function post({ url }: Life, key: string, prompt: string): Promise<Response> {
  const { port } = receiver.address() as AddressInfo;
  return fetch(`${url}/v1/tasks`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": prompt,
    },
    body: JSON.stringify({
      model: "acme/clip",
      prompt,
      duration: 2,
      webhook_url: `https://localhost:${port}/`,
    }),
  });
}

async function submit(life: Life, key: string, prompt: string): Promise<string> {
  const { id } = (await (await post(life, key, prompt)).json()) as { id?: string };
  if (id === undefined) throw new Error(`${prompt} was refused`);
  return id;
}

/** True if the process is stopped, according to Linux. */
const isStopped = ({ child }: Life): boolean =>
  / T /.test(readFileSync(`/proc/${child.pid}/stat`, "utf8").replace(/\(.*\)/, ""));

const row = async ({ database }: Installation, id: string) => {
  const [task] = await database.query<{ status: string; asking: boolean; over: boolean }>(
    `select status, asking, coalesce(lease_until < now() - interval '1 second', true) as over from tasks where id = $1`,
    [id],
  );
  return task!;
};

/**
 * How often a callback arrives. One sent before the stop looks the same as one that was not sent, and is repeated as the same
 * event.
 */
const timesOf = (point: Point): number => (point === "callback.sent" ? 2 : 1);

/**
 * True once the other gateway has had its chance. It has ended the task and called back, or it has left alone a request whose
 * outcome it cannot know.
 */
async function otherGatewayHasActed(
  at: Installation,
  id: string,
  point: Point,
): Promise<true | undefined> {
  const { asking, over } = await row(at, id);
  if (point === "ask.intended" || point === "ask.answered")
    return asking && over ? true : undefined;
  return (arrived.get(id)?.length ?? 0) >= timesOf(point) ? true : undefined;
}

const ended = (at: Installation, id: string) =>
  eventually(async () => {
    const task = await row(at, id);
    return ["queued", "running"].includes(task.status) ? undefined : task;
  }, "the task's end");

/** Runs one task whose gateway stops at a point while another gateway goes on; returns its id. */
async function stopAt(point: Point): Promise<string> {
  const at = await install();
  const victim = await live(at.environment);
  await victim.arm(point, "SIGSTOP");
  const id = await submit(victim, victim.key!, `stop-${point}`);
  await eventually(() => isStopped(victim), `a stop at ${point}`);
  const heir = await live(at.environment);
  await eventually(() => otherGatewayHasActed(at, id, point), `others to look after ${point}`);
  victim.child.kill("SIGCONT");
  const { status } = await ended(at, id);
  expect(`${point} ${status}`).toBe(`${point} succeeded`);
  await eventually(() => arrived.has(id), "its callback");
  await Promise.all([victim.end(), heir.end()]);
  expect(`${point} ${vendor.submitted.get(`stop-${point}`)}`).toBe(`${point} 1`);
  expect(`${point} ${arrived.get(id)!.length}`).toBe(`${point} ${timesOf(point)}`);
  expect(new Set(arrived.get(id)).size).toBe(1);
  const books = ledgerReaderOf(at.database);
  await books.expectClean();
  expect((await books.charges()).map(({ reference }) => reference)).toEqual([id]);
  return id;
}

describe.skipIf(process.platform !== "linux")("a task whose gateway gets SIGSTOP at a step", () => {
  it("T79 T81 T83: is submitted once, succeeds once, is charged once, and calls back with one event id", async () => {
    // Each takes mostly the time of leases, and two processes.
    const shareOfRows = limitConcurrency(4);
    const ids = await Promise.all(stoppedAt.map((point) => shareOfRows(() => stopAt(point))));
    expect(new Set(ids).size).toBe(stoppedAt.length);
  });

  it.each(
    shortOrLong<readonly Point[]>(["submit.accepted"], ["submit.accepted", "submit.committed"]),
  )(
    "TASK-10 T81: at %s, with the same idempotency key at another gateway, is one task with one job and one charge",
    async (point) => {
      const at = await install();
      const { database, environment } = at;
      const [victim, heir] = await Promise.all([live(environment), live(environment)]);
      const key = (victim.key ?? heir.key)!;
      const prompt = `stop-${point}`;
      await victim.arm(point, "SIGSTOP");
      const first = post(victim, key, prompt).catch(() => undefined);
      await eventually(() => isStopped(victim), `a stop at ${point}`);
      const id = await eventually(async () => {
        const answer = await post(heir, key, prompt);
        const body = (await answer.json()) as { id?: string };
        return body.id;
      }, "another gateway's answer");
      victim.child.kill("SIGCONT");
      const late = await first;
      const told = late?.ok === true ? ((await late.json()) as { id: string }).id : id;
      expect(told).toBe(id);
      expect((await ended(at, id)).status).toBe("succeeded");
      await Promise.all([victim.end(), heir.end()]);
      expect(vendor.submitted.get(prompt)).toBe(1);
      const tasks = await database.query("select id from tasks where request->>'prompt' = $1", [
        prompt,
      ]);
      expect(tasks).toHaveLength(1);
      const books = ledgerReaderOf(database);
      await books.expectClean();
      expect((await books.charges()).filter(({ reference }) => reference === id)).toHaveLength(1);
    },
  );
});
