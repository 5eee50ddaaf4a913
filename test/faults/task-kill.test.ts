/**
 * kill -9 at every step of a task's life, before and after each write and each request to the vendor. The process stops itself at
 * the named point (`taskPoints`); the next process continues. docs/tasks.md.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import { taskPoints } from "../../src/tasks/index.ts";
import { makeCertificate } from "../support/certificate.ts";
import { startTestGateway } from "../support/gateway.ts";
import { sharedPostgres, temporaryDirectory } from "../support/postgres.ts";
import { clipConfiguration, endAll, live, liveHere, type Life } from "../support/task-life.ts";
import { ledgerReaderOf, eventually } from "../money/support.ts";
import { shortOrLong } from "../support/long.ts";

/**
 * In the short form: before the vendor's answer is recorded, within the transaction of the end, and after a callback. So one
 * outcome is unknown, one step is repeated, and one callback is sent twice.
 */
const killedAt = shortOrLong<readonly (typeof taskPoints)[number][]>(
  ["ask.answered", "collect.stored", "callback.sent"],
  taskPoints,
);

const trusted = getCACertificates("default");
let sandbox: Sandbox;
let receiver: Server;
let directory: string;
/** Every callback that arrived: the event ids by task. */
const arrived = new Map<string, string[]>();

beforeAll(async () => {
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
  directory = temporaryDirectory();
  const certificate = makeCertificate();
  writeFileSync(join(directory, "ca.pem"), certificate.cert);
  setDefaultCACertificates([...trusted, certificate.cert]);
  writeFileSync(join(directory, "tollgate.yaml"), clipConfiguration(`${sandbox.url}/xai/v1`));
  receiver = createServer(certificate, (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const event = JSON.parse(text) as { id: string; data: { id: string } };
      arrived.set(event.data.id, [...(arrived.get(event.data.id) ?? []), event.id]);
      response.end();
    });
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
afterEach(endAll);
afterAll(async () => {
  setDefaultCACertificates(trusted);
  receiver.close();
  receiver.closeAllConnections();
  await sandbox.close();
});

/** Submits one task; returns its id, or undefined if the gateway died before it answered. */
async function submit(url: string, key: string, name: string): Promise<string | undefined> {
  const { port } = receiver.address() as AddressInfo;
  try {
    const response = await fetch(`${url}/v1/tasks`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": name,
      },
      body: JSON.stringify({
        model: "acme/clip",
        prompt: `${name}\n#sandbox {"task_seconds": 0.05}`,
        duration: 2,
        webhook_url: `https://localhost:${port}/`,
      }),
    });
    const body = (await response.json()) as { id?: string };
    if (body.id === undefined) throw new Error(JSON.stringify(body));
    return body.id;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

interface Seen {
  readonly status: string;
  readonly cost: string;
  readonly error?: { code: string };
}

async function ended(url: string, key: string, id: string): Promise<Seen> {
  const headers = { authorization: `Bearer ${key}` };
  return eventually(async () => {
    const response = await fetch(`${url}/v1/tasks/${id}`, { headers });
    const task = (await response.json()) as Seen;
    return ["queued", "running"].includes(task.status) ? undefined : task;
  }, "the task's end");
}

const called = (id: string) =>
  eventually(() => (arrived.has(id) ? true : undefined), "its callback");

/** The number of jobs that the vendor was asked for under this name. */
const asked = (name: string) =>
  sandbox.journal
    .list({ contains: name })
    .filter(({ method, path }) => method === "POST" && path.endsWith("/videos/generations")).length;

describe("a task whose gateway gets kill -9 at any step", () => {
  it("T79 T81 T83: ends once, is charged once or not at all, and calls back with one event id", async () => {
    // Two in parallel, because most of the time goes to waiting for leases.
    const half = Math.ceil(killedAt.length / 2);
    const ended = await Promise.all([
      killAt(killedAt.slice(0, half)),
      killAt(killedAt.slice(half)),
    ]);
    expect(ended.flat()).toHaveLength(killedAt.length);
  });
});

/** Starts one process after the other on one database; each dies at one of the points. Returns the ids of the tasks. */
async function killAt(points: readonly (typeof taskPoints)[number][]): Promise<string[]> {
  const databaseUrl = await (await sharedPostgres()).createMigrated();
  const environment: Record<string, string> = {
    TOLLGATE_DATA_DIR: join(directory, points[0]!),
    TOLLGATE_CONFIG: join(directory, "tollgate.yaml"),
    TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on",
    NODE_EXTRA_CA_CERTS: join(directory, "ca.pem"),
    // kill.test.ts covers the state in which a kill leaves the embedded database.
    DATABASE_URL: databaseUrl,
  };
  let victim = await live(environment);
  let heir: Pick<Life, "url" | "end"> = victim;
  const key = victim.key!;
  const tasks: { point: string; id: string }[] = [];
  for (const point of points) {
    const name = `kill-${point}`;
    await victim.arm(point);
    const first = await submit(victim.url, key, name);
    await victim.gone;
    // The last gateway is not killed, and needs no process.
    if (point === points.at(-1)) heir = await liveHere(environment);
    else heir = victim = await live(environment);
    // The caller never learnt the result, or retries to be sure: the idempotency key makes it one task.
    const id = await submit(heir.url, key, name);
    expect(id).toBe(first ?? id);
    tasks.push({ point, id: id! });
    await ended(heir.url, key, id!);
    await called(id!);
    expect(`${point} ${asked(name)}`).toMatch(/ [01]$/);
  }
  const ends = [];
  for (const { point, id } of tasks) ends.push({ point, id, ...(await ended(heir.url, key, id)) });
  // The outcome is unknown only if the process died between its intent and the vendor's id.
  for (const { point, status, error } of ends) {
    const unknown = ["ask.intended", "ask.answered"].includes(point);
    expect(`${point} ${status} ${error?.code ?? ""}`.trim()).toBe(
      unknown ? `${point} failed submission_uncertain` : `${point} succeeded`,
    );
  }
  for (const { id } of tasks) expect(new Set(arrived.get(id)).size).toBe(1);
  await heir.end();
  await expectExactBooks(databaseUrl, environment["TOLLGATE_DATA_DIR"]!, ends);
  return tasks.map(({ id }) => id);
}

async function expectExactBooks(
  databaseUrl: string,
  dataDir: string,
  ends: readonly { readonly id: string; readonly status: string }[],
): Promise<void> {
  const gateway = await startTestGateway({
    databaseUrl,
    environment: { TOLLGATE_DATA_DIR: dataDir },
  });
  try {
    const books = ledgerReaderOf(gateway.database);
    await books.expectClean();
    const charged = (await books.charges()).map((row) => row.reference);
    const succeeded = ends.filter(({ status }) => status === "succeeded").map(({ id }) => id);
    expect(charged.sort()).toEqual(succeeded.sort());
  } finally {
    await gateway.close();
  }
}
