/** Gateways with several worker processes, and system information about those processes. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Agent, request } from "node:http";
import { eventually } from "../money/support.ts";
import { keyOf, start, type KeptProcess } from "../operation/support.ts";
import { preparedDataDir } from "../support/postgres.ts";

export interface WorkersGateway extends KeptProcess {
  readonly key: string;
  readonly dataDir: string;
}

/** Starts a gateway with two workers on an embedded database of its own, unless the environment says otherwise. */
export async function startWorkers(
  environment: Record<string, string> = {},
  options?: Parameters<typeof start>[1],
): Promise<WorkersGateway> {
  const dataDir = environment["TOLLGATE_DATA_DIR"] ?? (await preparedDataDir());
  const variables = {
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_WORKERS: "2",
    TOLLGATE_SANDBOX: "on",
    DATABASE_URL: "",
    ...environment,
  };
  const gateway = await start(variables, options);
  return { ...gateway, dataDir, key: gateway.banner.includes("gw_live_") ? keyOf(gateway) : "" };
}

const fieldsOf = (pid: string): string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  } catch {
    return [];
  }
};

/** The workers of a supervisor, including those that are ending, without zombies. */
export function workersOf(supervisor: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const [state, parent] = fieldsOf(pid);
      return (
        Number(parent) === supervisor && state !== "Z" && /\/worker\.[jt]s\0/.test(commandOf(pid))
      );
    })
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The start options of a worker, which its supervisor wrote into its environment. */
export const startOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, "utf8");

export const isAlive = (pid: number): boolean => {
  const [state] = fieldsOf(String(pid));
  return state !== undefined && state !== "Z";
};

/** Processor time of a process, in milliseconds over all its threads. */
export function workedMs(pid: number): number {
  const fields = fieldsOf(String(pid));
  // User and system time, in ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The number of connections to a port of loopback whose server end a process holds. */
export const connectionsOf = (pid: number, port: number): number => descriptorsOf(pid, port, "01");

/** The number of sockets on which a process listens at a port of loopback. */
export const listenersOf = (pid: number, port: number): number => descriptorsOf(pid, port, "0A");

/** Counts the process's descriptors of sockets in this state of the kernel's table. */
function descriptorsOf(pid: number, port: number, state: string): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = new Set(
    ["tcp", "tcp6"]
      .flatMap((table) => readFileSync(`/proc/net/${table}`, "utf8").split("\n"))
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(local) && fields[3] === state)
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
}

/** The sum of all series of a metric. */
export async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
}

/** Waits until `count` workers are ready, according to /readyz. */
export const whenReady = (url: string, count = 2): Promise<true> =>
  eventually(
    async () => ((await readiness(url)).workers?.ready === count ? true : undefined),
    `${count} workers`,
    180_000,
  );

interface ReadinessBody {
  readonly status: string;
  readonly workers?: { readonly ready: number; readonly of: number };
}

/** The body of /readyz, on its own connection; status "down" if no process answers. */
export async function readiness(url: string): Promise<ReadinessBody> {
  try {
    // If the cluster module hands out connections, one that a dying worker just got is never answered.
    const signal = AbortSignal.timeout(5_000);
    const response = await fetch(`${url}/readyz`, { headers: { connection: "close" }, signal });
    return (await response.json()) as ReadinessBody;
  } catch {
    return { status: "down" };
  }
}

export interface Call {
  readonly startedMs: number;
  readonly endedMs: number;
  /** `200`, or the reason of the failure. */
  readonly outcome: string;
}

/** Makes one chat call on its own connection, so that a failure is that of one process. */
export function callOnce(
  { url, key }: { readonly url: string; readonly key: string },
  text = "Hi",
): Promise<Call> {
  const startedMs = performance.now();
  const body = JSON.stringify({
    model: "sandbox/chat",
    messages: [{ role: "user", content: text }],
  });
  const agent = new Agent({ keepAlive: false });
  return new Promise((resolve) => {
    const end = (outcome: string): void =>
      resolve({ startedMs, endedMs: performance.now(), outcome });
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const sent = request(
      `${url}/v1/chat/completions`,
      { method: "POST", agent, headers },
      (answer) => {
        answer.resume();
        answer.on("end", () => end(String(answer.statusCode)));
        answer.on("error", (error) => end(error.message));
      },
    );
    sent.on("error", (error) => end(error.message));
    sent.end(body);
  });
}

/** Makes `perSecond` calls a second, each on its own connection, until `until` returns true; resolves with all results. */
export async function steadyCalls(
  gateway: { readonly url: string; readonly key: string },
  perSecond: number,
  until: () => boolean,
  text?: string,
): Promise<Call[]> {
  const calls: Promise<Call>[] = [];
  const started = performance.now();
  while (!until()) {
    const due = ((performance.now() - started) / 1000) * perSecond;
    while (calls.length < due) calls.push(callOnce(gateway, text));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return Promise.all(calls);
}
