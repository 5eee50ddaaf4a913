/**
 * Workers that die, are replaced or stopped under load: which calls fail, what is left, and what the ledger says. In the short
 * form only cluster.test.ts tests SIGHUP.
 */
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../money/support.ts";
import { tollgateHere } from "../support/command.ts";
import { serverProcesses } from "../support/embedded.ts";
import { shortOrLong, isLong } from "../support/long.ts";
import { patienceMs } from "../support/patience.ts";
import { preparedDataDir, temporaryDirectory } from "../support/postgres.ts";
import { drive, newLoad } from "../faults/load.ts";
import {
  callOnce,
  isAlive,
  metric,
  readiness,
  startWorkers,
  steadyCalls,
  whenReady,
  workersOf,
  type WorkersGateway,
} from "./support.ts";

const slow = '#sandbox {"reply": "a short answer", "delay_ms": 150}';
const hasty = new URL("../support/hasty-gateway.ts", import.meta.url).pathname;
const linux = process.platform === "linux";
let gateway: WorkersGateway | undefined;
afterEach(async () => {
  await gateway?.kill();
});

const verify = (dataDir: string) =>
  tollgateHere(["verify"], { TOLLGATE_DATA_DIR: dataDir, DATABASE_URL: "" });

/** Waits for `more` calls, by any caller, that ended well. */
const waitForCalls = async (url: string, more: number): Promise<void> => {
  const from = await metric(url, "tollgate_calls_total");
  await eventually(
    async () => ((await metric(url, "tollgate_calls_total")) >= from + more ? true : undefined),
    "calls",
    60_000,
  );
};

/** Each test continues with the state of the one before: starting three processes for each would take longer than the tests. */
describe.skipIf(!linux)("a gateway, from a worker's death to its own end", () => {
  let running: WorkersGateway;
  let environment: Record<string, string>;
  const cwd = temporaryDirectory();
  const file = join(cwd, "tollgate.yaml");
  beforeAll(async () => {
    writeFileSync(file, "limits: {text_body_mb: 1}\n");
    environment = { TOLLGATE_CONFIG: "", TOLLGATE_DRAIN_SECONDS: "2" };
    running = await startWorkers(environment, { cwd });
  });
  afterAll(() => running?.kill());

  it(
    "BILL-01 T65: only the calls in flight of a worker killed under load fail, and the worker is started again",
    { timeout: 400_000 },
    async () => {
      let isFinished = false;
      const calls = steadyCalls(running, 40, () => isFinished, slow);
      const killed: number[] = [];
      for (let round = 0; round < shortOrLong(1, 10); round += 1) {
        await waitForCalls(running.url, 40);
        const [victim] = workersOf(running.child.pid!);
        const counted = await metric(running.url, "tollgate_calls_total");
        process.kill(victim!, "SIGKILL");
        killed.push(performance.now());
        await whenReady(running.url);
        expect(isAlive(victim!)).toBe(false);
        expect(workersOf(running.child.pid!)).toHaveLength(2);
        // The sums still include the counts of the dead worker.
        expect(await metric(running.url, "tollgate_calls_total")).toBeGreaterThanOrEqual(counted);
      }
      isFinished = true;
      const ended = await calls;
      const failed = ended.filter(({ outcome }) => outcome !== "200");
      const inFlight = (call: { startedMs: number; endedMs: number }) =>
        killed.some((atMs) => call.startedMs <= atMs && call.endedMs >= atMs);
      expect(failed.filter((call) => !inFlight(call))).toEqual([]);
      expect(ended.length - failed.length).toBeGreaterThan(shortOrLong(40, 80));
      expect(await metric(running.url, "tollgate_worker_restarts_total")).toBe(killed.length);
    },
  );

  it(
    "BILL-01 T65: after a SIGKILL of the supervisor under load no process is left, including the embedded database",
    { timeout: 400_000 },
    async () => {
      const { child, url, key, dataDir } = running;
      const load = newLoad();
      let isFinished = false;
      const driven = drive(
        { url, key, perSecond: 30, model: "sandbox/chat", text: slow, until: () => isFinished },
        load,
      );
      await waitForCalls(url, 20);
      const workers = workersOf(child.pid!);
      expect(workers).toHaveLength(2);
      const from = performance.now();
      await running.kill();
      await expect
        .poll(() => [...workers.filter(isAlive), ...serverProcesses(dataDir)], {
          interval: 20,
        })
        .toEqual([]);
      expect(performance.now() - from).toBeLessThan(shortOrLong(patienceMs, 2_000));
      isFinished = true;
      await driven;
      const again = { ...environment, TOLLGATE_DATA_DIR: dataDir };
      running = { ...(await startWorkers(again, { cwd })), key };
      expect((await callOnce(running)).outcome).toBe("200");
    },
  );

  it("an invalid configuration, and a missing one, are logged at SIGHUP and change nothing", async () => {
    const old = workersOf(running.child.pid!);
    const refused = async (reason: string): Promise<void> => {
      running.child.kill("SIGHUP");
      await eventually(
        () => (running.printed().includes(reason) ? true : undefined),
        "the log",
        30_000,
      );
    };
    rmSync(file);
    await refused(`there is no configuration file ${file}`);
    writeFileSync(file, "limits: {text_body_mb: none}\n");
    await refused("the configuration has one mistake");
    expect(workersOf(running.child.pid!)).toEqual(old);
    expect((await callOnce(running)).outcome).toBe("200");
  });

  it("BILL-01 T65: SIGTERM lets calls in flight end, /readyz answers 503, no process is left, and the ledger is consistent", async () => {
    const before = await journalOf(running);
    const { url, child, dataDir } = running;
    const workers = workersOf(child.pid!);
    const calls = Array.from({ length: 12 }, () =>
      callOnce(running, '#sandbox {"reply": "late", "delay_ms": 3000}'),
    );
    await expect.poll(async () => journalOf(running)).toBe(before + 12);
    const stopped = running.stop();
    await eventually(
      async () => ((await readiness(url)).status === "not_ready" ? true : undefined),
      "a gateway that is not ready",
      20_000,
    );
    // Served as usual until balancers have noticed the stop.
    expect((await callOnce(running)).outcome).toBe("200");
    expect((await Promise.all(calls)).map(({ outcome }) => outcome)).toEqual(Array(12).fill("200"));
    expect(await stopped).toBe(0);
    expect(workers.filter(isAlive)).toEqual([]);
    expect(serverProcesses(dataDir)).toEqual([]);
    // The ledger includes what the earlier deaths left behind.
    expect(await verify(dataDir)).toMatchObject({ code: 0, stdout: "no difference\n" });
  });
});

describe.skipIf(!linux)("a gateway under load", () => {
  it.skipIf(!isLong)(
    "reads its configuration again at SIGHUP and replaces its workers one by one, without a failed call",
    { timeout: 400_000 },
    async () => {
      const directory = temporaryDirectory();
      const file = join(directory, "tollgate.yaml");
      writeFileSync(file, "limits: {text_body_mb: 1}\n");
      const running = (gateway = await startWorkers({ TOLLGATE_CONFIG: file }));
      const { url, key, child } = running;
      const large = () => callOnce(running, "x".repeat(1_500_000));
      expect((await large()).outcome).toBe("413");
      const load = newLoad();
      let isFinished = false;
      // Calls on kept-alive connections and on new ones.
      const kept = drive(
        { url, key, perSecond: 30, model: "sandbox/chat", text: slow, until: () => isFinished },
        load,
      );
      const fresh = steadyCalls(running, 20, () => isFinished, slow);
      await waitForCalls(url, 40);
      const old = workersOf(child.pid!);
      writeFileSync(file, "limits: {text_body_mb: 4}\n");
      child.kill("SIGHUP");
      await eventually(
        () => (old.some((pid) => isAlive(pid)) ? undefined : true),
        "new workers",
        120_000,
      );
      await waitForCalls(url, 20);
      isFinished = true;
      const calls = await fresh;
      await kept;
      expect({ cut: load.cut, refused: [...load.refused], whole: load.whole.size }).toEqual({
        cut: 0,
        refused: [],
        whole: load.begun,
      });
      expect(calls.filter(({ outcome }) => outcome !== "200")).toEqual([]);
      expect(workersOf(child.pid!)).toHaveLength(2);
      expect((await large()).outcome).toBe("200");
      // The sums include all calls, also those of the old workers.
      expect(await metric(url, "tollgate_calls_total")).toBe(load.begun + calls.length + 1);
    },
  );
});

describe.skipIf(!linux)("a worker that cannot be started again", () => {
  it.skipIf(!isLong)(
    "leaves its connections to the others, is retried, and comes back",
    { timeout: 400_000 },
    async () => {
      const running = (gateway = await startWorkers());
      const files = join(running.dataDir, "files");
      renameSync(files, `${files}.away`);
      writeFileSync(files, "");
      const [victim] = workersOf(running.child.pid!);
      process.kill(victim!, "SIGKILL");
      await eventually(
        () => (running.printed().includes("a worker did not start") ? true : undefined),
        "an attempt that fails",
        120_000,
      );
      const calls = await Promise.all(Array.from({ length: 20 }, () => callOnce(running)));
      expect(calls.map(({ outcome }) => outcome)).toEqual(Array(20).fill("200"));
      expect(await readiness(running.url)).toMatchObject({
        status: "ready",
        workers: { ready: 1, of: 2 },
      });
      rmSync(files);
      renameSync(`${files}.away`, files);
      await whenReady(running.url);
      expect(await running.stop()).toBe(0);
    },
  );

  it.skipIf(!isLong)(
    "makes the gateway end with the reason if no other worker can start either",
    { timeout: 400_000 },
    async () => {
      // In the short form it tries three times, not six, with pauses that begin at 20 ms.
      const running = (gateway = await startWorkers({}, isLong ? {} : { program: hasty }));
      const gone = once(running.child, "exit");
      const files = join(running.dataDir, "files");
      renameSync(files, `${files}.away`);
      writeFileSync(files, "");
      for (const pid of workersOf(running.child.pid!)) process.kill(pid, "SIGKILL");
      expect(await gone).toEqual([1, null]);
      expect(
        running.printed().match(/^tollgate: no worker could be started: .*files/gm),
      ).toHaveLength(1);
      expect(serverProcesses(running.dataDir)).toEqual([]);
    },
  );
});

describe.skipIf(!linux)("a stop in a hurry", () => {
  it("ends everything at once at the second signal", async () => {
    const running = (gateway = await startWorkers());
    const workers = workersOf(running.child.pid!);
    const call = callOnce(running, '#sandbox {"delay_ms": 30000}');
    await expect.poll(async () => journalOf(running)).toBe(1);
    running.child.kill("SIGTERM");
    const started = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await running.stop()).toBe(1);
    expect(performance.now() - started).toBeLessThan(8_000);
    expect((await call).outcome).not.toBe("200");
    await expect.poll(() => workers.filter(isAlive)).toEqual([]);
  });

  it.skipIf(!isLong)("kills a worker that does not end", { timeout: 600_000 }, async () => {
    const dataDir = await preparedDataDir();
    const running = (gateway = await startWorkers({ TOLLGATE_DATA_DIR: dataDir }));
    const [hung] = workersOf(running.child.pid!);
    process.kill(hung!, "SIGSTOP");
    // The failing worker takes no calls: the other one alone is enough.
    await eventually(
      async () => {
        const { status, workers } = await readiness(running.url);
        return status === "ready" && workers?.ready === 1 ? true : undefined;
      },
      "one that is ready",
      20_000,
    );
    expect(await running.stop()).toBe(0);
    expect(isAlive(hung!)).toBe(false);
    expect(readFileSync(join(dataDir, "database/server.log"), "utf8")).not.toMatch(/PANIC/);
  });
});

async function journalOf({ sandboxUrl }: WorkersGateway): Promise<number> {
  const { data } = (await (await fetch(`${sandboxUrl}/__journal`)).json()) as { data: unknown[] };
  return data.length;
}
