// A gateway over the sandbox for tests of tasks over HTTP, with a second workspace, and frequent requests.
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { parseUsd } from "../../src/base/money.ts";
import { createKey, createWorkspace, openSecrets } from "../../src/tenancy/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";

export interface TaskBody {
  readonly id: string;
  readonly status: string;
  readonly model: string;
  readonly created_at: string;
  readonly output: {
    readonly images: { readonly index: number; readonly url: string }[];
    readonly videos?: { readonly index: number; readonly url: string }[];
  };
  readonly usage: Record<string, number>;
  readonly cost: string;
  readonly notes?: string[];
  readonly error?: { readonly code: string; readonly message: string };
}

export interface Bench extends GatewayUnderTest {
  /** A key of another workspace. */
  readonly otherKey: string;
  /** Sends a request with the key, or another one. */
  send(method: string, path: string, options?: SendOptions): Promise<Response>;
  /** Creates a task. @throws if it is refused */
  create(body: object, headers?: Record<string, string>): Promise<TaskBody>;
  read(id: string): Promise<TaskBody>;
  /** Reads until the task is in one of the states. */
  until(id: string, ...states: string[]): Promise<TaskBody>;
  /** The requests to the sandbox's vendors at matching paths, since the last call of this function. */
  received(path: RegExp): Promise<{ path: string; body: Record<string, unknown> }[]>;
  available(): Promise<bigint>;
}

interface SendOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A prompt with a sandbox script. */
export const scripted = (script: object): string => `A boat\n#sandbox ${JSON.stringify(script)}`;

export const video = { model: "sandbox/video-model-v1", prompt: "A boat", duration: 2 };

/** Starts the gateway, with frequent polls. */
export async function startBench(
  options: Parameters<typeof startTestGateway>[0] = {},
): Promise<Bench> {
  const gateway = await startTestGateway({
    tasks: { timing: { firstPollMs: 40, sweepMs: 100 } },
    ...options,
  });
  const { database } = gateway;
  const context = { database, clock: systemClock };
  const other = await createWorkspace(context, { name: "Other", organizationId: null });
  const dataDir = join(gateway.directory, "data");
  const secrets = await openSecrets({ database, masterKey: undefined, dataDir });
  const { key: otherKey } = await createKey(
    { ...context, secrets },
    { workspaceId: other.id, name: "its key", createdBy: null },
  );
  await gateway.ledger.credit({
    workspaceId: other.id,
    amountNano: parseUsd("10"),
    reference: "start",
  });
  const send: Bench["send"] = (method, path, { key = gateway.key, body, headers = {} } = {}) =>
    fetch(gateway.url + path, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined &&
          !(body instanceof FormData) && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    });
  const read = async (id: string) =>
    (await (await send("GET", `/v1/tasks/${id}`)).json()) as TaskBody;
  return {
    ...gateway,
    otherKey,
    send,
    read,
    async create(body, headers = {}) {
      const answer = await send("POST", "/v1/tasks", { body, headers });
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      return (await answer.json()) as TaskBody;
    },
    async until(id, ...states) {
      return eventually(
        async () => {
          const task = await read(id);
          return states.includes(task.status) && task;
        },
        `task ${id} ${states.join(" or ")}`,
      );
    },
    async received(path) {
      const answer = await fetch(`${gateway.sandboxUrl}/__journal`);
      await fetch(`${gateway.sandboxUrl}/__journal`, { method: "DELETE" });
      const { data } = (await answer.json()) as {
        data: { path: string; body: Record<string, unknown> }[];
      };
      return data.filter((one) => path.test(one.path));
    },
    async available() {
      return (await gateway.ledger.balance(gateway.workspaceId)).availableNano;
    },
  };
}
