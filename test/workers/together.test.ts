/** Several workers act as one gateway: they share the port, /metrics, /readyz, the limits of keys, and the sweeps for work. */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { recordLoadedParts } from "../support/loaded-parts.ts";
import { preparedDataDir, temporaryDirectory } from "../support/postgres.ts";
import { spawnGateway, tollgate } from "../support/process.ts";
import {
  callOnce,
  connectionsOf,
  metric,
  readiness,
  startOf,
  startWorkers,
  whenReady,
  workersOf,
  type WorkersGateway,
} from "./support.ts";

const linux = process.platform === "linux";

describe.skipIf(!linux)("two workers", () => {
  let gateway: WorkersGateway;
  const partsLog = recordLoadedParts();
  beforeAll(async () => {
    const dataDir = await preparedDataDir();
    // The database logs each statement with its process id.
    mkdirSync(join(dataDir, "database"), { recursive: true });
    appendFileSync(join(dataDir, "database/custom.conf"), "log_statement = all\n");
    gateway = await startWorkers({ TOLLGATE_DATA_DIR: dataDir, ...partsLog.environment });
  });
  afterAll(async () => {
    await gateway.kill();
  });

  it("are two processes below a supervisor, and the first start is printed once", () => {
    expect(workersOf(gateway.child.pid!)).toHaveLength(2);
    expect(gateway.banner.match(/gw_live_/g)).toHaveLength(2);
    expect(gateway.banner).toMatch(/^ {2}Workers +2$/m);
  });

  it("have a supervisor that loads no code for answering calls", () => {
    const answering = ["http", "calls", "protocols", "routing", "upstream"];
    expect(partsLog.parts(workersOf(gateway.child.pid!)[0])).toContain("calls");
    expect(partsLog.parts(gateway.child.pid)).toContain("storage");
    for (const part of answering) expect(partsLog.parts(gateway.child.pid)).not.toContain(part);
  });

  it("share new connections", async () => {
    const port = Number(new URL(gateway.url).port);
    const sockets = Array.from({ length: 60 }, () => connect(port, "127.0.0.1"));
    const workers = workersOf(gateway.child.pid!);
    const counts = () => workers.map((pid) => connectionsOf(pid, port));
    await expect
      .poll(() => counts().reduce((sum, count) => sum + count, 0))
      .toBeGreaterThanOrEqual(60);
    // By chance, fewer than ten of sixty on one side happens once in ten million.
    expect(Math.min(...counts())).toBeGreaterThan(10);
    for (const socket of sockets) socket.destroy();
  });

  it("answer /metrics with the sums of both", async () => {
    const before = await metric(gateway.url, "tollgate_calls_total");
    const calls = await Promise.all(Array.from({ length: 40 }, () => callOnce(gateway)));
    expect(new Set(calls.map(({ outcome }) => outcome))).toEqual(new Set(["200"]));
    // The same from any worker.
    for (let time = 0; time < 6; time += 1)
      expect(await metric(gateway.url, "tollgate_calls_total")).toBe(before + 40);
    expect(await metric(gateway.url, "gen_ai_server_request_duration_seconds_count")).toBe(
      before + 40,
    );
    expect(await metric(gateway.url, "tollgate_workers")).toBe(2);
  });

  it("answer /readyz for both", async () => {
    expect(await readiness(gateway.url)).toMatchObject({
      status: "ready",
      workers: { ready: 2, of: 2 },
    });
  });

  it("LIM-17: share a key's request limit", async () => {
    const token = readFileSync(join(gateway.dataDir, "admin-token"), "utf8").trim();
    const admin = async (path: string, body?: object) => {
      const response = await fetch(`${gateway.url}/admin/v1${path}`, {
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
      return (await response.json()) as { data: { id: string }[]; key: string };
    };
    const [workspace] = (await admin("/workspaces")).data;
    const { key } = await admin("/keys", {
      workspace_id: workspace!.id,
      name: "limited",
      rate_limits: { requests_per_minute: 10 },
    });
    const outcomes: string[] = [];
    for (let time = 0; time < 16; time += 1) {
      outcomes.push((await callOnce({ url: gateway.url, key })).outcome);
    }
    expect(outcomes.filter((outcome) => outcome === "200")).toHaveLength(10);
    expect(outcomes.slice(10)).toEqual(Array(6).fill("429"));
  });

  it("elect one of them to search for unannounced work, and the other takes over when it dies", async () => {
    const log = join(gateway.dataDir, "database/server.log");
    /** Ids of the database processes that looked for tasks since the log had length `from`; each serves one worker. */
    const searchesSince = (from: number): number[] =>
      [
        ...readFileSync(log, "utf8")
          .slice(from)
          .matchAll(/\[(\d+)\] LOG: {2}execute tasks_due/g),
      ].map(([, pid]) => Number(pid));
    const size = () => readFileSync(log, "utf8").length;
    const waitForSearches = async (count: number, name: string): Promise<void> => {
      const from = size();
      await eventually(
        () => (searchesSince(from).length >= count ? true : undefined),
        name,
        60_000,
      );
    };
    const numbered = (number: number): number =>
      workersOf(gateway.child.pid!).find((pid) => startOf(pid).includes(`"number":${number},`))!;
    // The first worker is elected. While it is stopped, no worker looks; while the other one is stopped, all is as usual.
    process.kill(numbered(2), "SIGSTOP");
    await waitForSearches(4, "looks of the first");
    process.kill(numbered(2), "SIGCONT");
    process.kill(numbered(1), "SIGSTOP");
    const from = size();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    // Statements that were in flight when it stopped.
    expect(searchesSince(from).length).toBeLessThanOrEqual(2);
    process.kill(numbered(1), "SIGKILL");
    await waitForSearches(4, "looks of the other");
    await whenReady(gateway.url);
  });

  it("write their number into each line of the log", async () => {
    const calls = await Promise.all(Array.from({ length: 40 }, () => callOnce(gateway)));
    expect(new Set(calls.map(({ outcome }) => outcome))).toEqual(new Set(["200"]));
    interface Line {
      readonly worker?: number;
      readonly msg: string;
    }
    const lines = () =>
      gateway
        .printed()
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Line);
    const requests = () => lines().filter(({ msg }) => msg === "request");
    // 40 calls on 40 connections reach both; their lines are written in batches.
    await eventually(
      () => requests().length >= 40 && new Set(requests().map(({ worker }) => worker)).size >= 2,
      "lines of both workers",
    );
    // The lines of the supervisor since the start are about a worker, and name it too.
    expect(lines().filter(({ worker }) => worker !== 1 && worker !== 2)).toEqual([]);
  });
});

describe.skipIf(!linux)("the ports of a gateway with workers", () => {
  let gateway: WorkersGateway;
  beforeAll(async () => {
    gateway = await startWorkers({ TOLLGATE_METRICS_PORT: "0" });
  });
  afterAll(() => gateway.kill());

  it("a port for /metrics answers for both workers", async () => {
    const url = /Metrics +(\S+)\/metrics/.exec(gateway.banner)![1]!;
    const calls = await Promise.all(Array.from({ length: 12 }, () => callOnce(gateway)));
    expect(new Set(calls.map(({ outcome }) => outcome))).toEqual(new Set(["200"]));
    for (let time = 0; time < 4; time += 1)
      expect(await metric(url, "tollgate_calls_total")).toBe(12);
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  });

  it("a port in use is reported once, also if another Tollgate with workers uses it", async () => {
    const port = new URL(gateway.url).port;
    const output = await spawnGateway({
      PORT: port,
      TOLLGATE_WORKERS: "2",
      TOLLGATE_DATA_DIR: await preparedDataDir(),
      DATABASE_URL: "",
    }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    expect(output.match(new RegExp(`port ${port} on 127.0.0.1 is in use`, "g"))).toHaveLength(1);
    expect(output).toMatch(/ended with code 1/);
  });
});

describe("the start of a gateway with workers", () => {
  it("reports once why no worker can start, and ends", async () => {
    const dataDir = await preparedDataDir();
    // This file blocks the path of the files' directory.
    writeFileSync(join(dataDir, "files"), "");
    const output = await spawnGateway({
      TOLLGATE_WORKERS: "2",
      TOLLGATE_DATA_DIR: dataDir,
      DATABASE_URL: "",
      TOLLGATE_LOG_LEVEL: "silent",
    }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    expect(output.match(/tollgate: /g)).toHaveLength(1);
    expect(output).toMatch(/ended with code 1: tollgate: .*files/s);
  });

  it("refuses an invalid number of workers", async () => {
    for (const [name, value] of [
      ["TOLLGATE_WORKERS", "0"],
      ["TOLLGATE_WORKERS", "many"],
    ] as const)
      expect(
        await tollgate(["serve"], { [name]: value, TOLLGATE_DATA_DIR: temporaryDirectory() }),
      ).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${name} is "${value}"`) as string,
      });
  });
});
