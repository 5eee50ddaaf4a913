/** Shared by the tests of callbacks: an HTTPS receiver, a tenant with ended tasks, deliverers, and an exact clock. */
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, expect } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { manualClock } from "../support/manual-clock.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import type { Database } from "../../src/storage/index.ts";
import { renderUnified } from "../../src/tasks/index.ts";
import type { TerminalStatus } from "../../src/tasks/states.ts";
import {
  createDeliverer,
  createSender,
  enqueueCallback,
  readDeliveries,
  type Deliverer,
  type DelivererOptions,
  type Delivery,
} from "../../src/tasks/webhooks/index.ts";
import { createWorkspace, readSigningSecret } from "../../src/tenancy/index.ts";
import { deriveSecrets } from "../support/secrets.ts";
import { makeCertificate } from "../support/certificate.ts";
import { eventually } from "../support/patience.ts";

export const certificate = makeCertificate();
setDefaultCACertificates([...getCACertificates("default"), certificate.cert]);

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The headers' names and values as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Receiver {
  /** `https://localhost:<port>/hook`. */
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
}

/** How a receiver answers; a number is a status. If it never ends the answer, the sender waits. */
export type Answer = number | ((response: ServerResponse, received: Received) => void);

/** A receiver that gives `answers` in turn and repeats the last one. Closed after the suite. */
export async function startReceiver(...answers: Answer[]): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(certificate, (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (text: string) => (body += text));
    request.on("end", () => {
      const answer = answers[Math.min(received.length, answers.length - 1)] ?? 200;
      const { headers, rawHeaders } = request;
      const one = { path: request.url!, headers, rawHeaders, body };
      received.push(one);
      if (typeof answer === "number") response.writeHead(answer).end();
      else answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}/hook`, port, received };
}

export const masterKey = randomBytes(32);
export const secrets = deriveSecrets(masterKey);

/** Waits until the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(condition, "a condition that comes true");
}

export const render: DelivererOptions["render"] = (task) =>
  renderUnified(task, (name) => `https://gateway.example/files/${name}`);

/** A deliverer like the gateway's, but quick, and allowed to call the loopback interface. */
export function newDeliverer(
  database: Database,
  clock: Clock,
  options: Partial<DelivererOptions> = {},
): Deliverer {
  return createDeliverer({
    database,
    secrets,
    clock,
    log: silentLog,
    send: createSender({ allowPrivate: true }),
    render,
    timeoutMs: 30_000,
    pollMs: 10,
    random: () => 0.5,
    ...options,
  });
}

/** A workspace in a database, with its helpers. The outbox is empty. Its clock stands still at the present time. */
export async function newTenant(database: Database) {
  await database.query("delete from webhook_attempts; delete from webhook_deliveries");
  const clock = manualClock(Date.now());
  const workspace = await createWorkspace({ database, clock }, { name: "W", organizationId: null });
  const workspaceId = workspace.id;
  const context = { database, clock, secrets };

  async function endedTask(status: TerminalStatus): Promise<string> {
    const id = newId("task", clock.now());
    const error = status === "failed" || status === "expired" ? { code: "x", message: "Y." } : null;
    await database.query(
      `insert into tasks (workspace_id, id, key_id, kind, family, model, form, status, request, plan, reserved_nano,
         error, webhook_url, expires_at, created_at, updated_at, finished_at)
       values ($1, $2, 'key_1', 'video', 'video-seconds', 'acme/clip', 'tasks', $3, '{}', '{}', 0, $4, 'set', $5, $5, $5, $5)`,
      [workspaceId, id, status, error && JSON.stringify(error), new Date(clock.now())],
    );
    return id;
  }

  return {
    ...context,
    workspaceId,
    secret: async () => (await readSigningSecret(context, workspaceId)).secret,
    /** Creates a task that has just ended, with its callback in the outbox. Returns the task's id. */
    async end(url: string, status: TerminalStatus = "succeeded"): Promise<string> {
      const taskId = await endedTask(status);
      await database.transaction((tx) =>
        enqueueCallback(tx, {
          workspaceId,
          taskId,
          type: `task.${status}`,
          url,
          nowMs: clock.now(),
        }),
      );
      return taskId;
    },
    async delivery(taskId: string): Promise<Delivery> {
      const records = await deliveriesOf(database, workspaceId, taskId);
      expect(records).toHaveLength(1);
      return records[0]!;
    },
  };
}

export type TestTenant = Awaited<ReturnType<typeof newTenant>>;

/** The deliveries of a task. */
export async function deliveriesOf(
  database: Database,
  workspaceId: string,
  taskId: string,
): Promise<Delivery[]> {
  const names = await database.query<{ id: string }>(
    "select id from webhook_deliveries where workspace_id = $1 and task_id = $2",
    [workspaceId, taskId],
  );
  return readDeliveries(
    { database },
    names.map(({ id }) => ({ workspaceId, id })),
  );
}
