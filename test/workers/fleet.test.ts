/** The fleet with fake workers: which ones it starts, and which messages it sends. */
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import type { LivenessLimits } from "../../src/cli/workers/liveness.ts";
import { Fleet } from "../../src/cli/workers/fleet.ts";
import { createLink } from "../../src/cli/workers/link.ts";
import type { ToWorker } from "../../src/cli/workers/messages.ts";
import type { WorkerProcess } from "../../src/cli/workers/worker-process.ts";

interface Fake {
  readonly worker: WorkerProcess;
  readonly messages: ToWorker[];
  /** Ends the fake worker like a process. */
  end(): void;
}

/** A worker that is ready at once, and ends when the test says so. */
function fakeWorker(number: number): Fake {
  const ended = Promise.withResolvers<string>();
  const messages: ToWorker[] = [];
  const worker: WorkerProcess = {
    number,
    state: "ready",
    startedMs: performance.now(),
    ready: Promise.resolve({ kind: "ready", first: undefined, metricsUrl: undefined }),
    ended: ended.promise,
    measured: [],
    send: (message) => void messages.push(message),
    ask: () => Promise.resolve(undefined),
    kill: () => ended.resolve("killed"),
  };
  return { worker, messages, end: () => ended.resolve("code 0") };
}

/** A fleet of two; no process can be started after `processesMax`. */
async function startFleet(processesMax = Infinity, liveness?: LivenessLimits) {
  const fakes: Fake[] = [];
  const errors: object[] = [];
  const fleet = new Fleet({
    count: 2,
    start(number) {
      if (fakes.length >= processesMax) throw new Error("spawn ENOMEM");
      const fake = fakeWorker(number);
      fakes.push(fake);
      return fake.worker;
    },
    log: { ...silentLog, error: (fields, message) => void errors.push({ ...fields, message }) },
    liveness,
    failed: () => undefined,
    gaveUp: () => undefined,
  });
  await fleet.start();
  return { fleet, fakes, errors };
}

const stops = ({ messages }: Fake): ToWorker[] => messages.filter(({ kind }) => kind === "stop");

it("BILL-01: a stop during a reload starts no more workers, and stops all that run", async () => {
  const { fleet, fakes } = await startFleet();
  const reloaded = fleet.reload();
  await expect.poll(() => fakes.length).toBe(3);
  await expect.poll(() => stops(fakes[0]!)).toEqual([{ kind: "stop", leaveMs: 0, replaced: true }]);
  const stopped = fleet.stop(0);
  fakes[0]!.end();
  await reloaded;
  expect(fakes).toHaveLength(3);
  for (const fake of fakes) {
    expect(stops(fake).at(-1)).toEqual({ kind: "stop", leaveMs: 0, replaced: false });
    fake.end();
  }
  await stopped;
});

it("a worker that does not answer health checks is ended, and another replaces it", async () => {
  const { fleet, fakes } = await startFleet(4, { everyMs: 20, missedMax: 2 });
  await expect.poll(() => fakes.length).toBe(4);
  const numbers = fakes.map(({ worker }) => worker.number);
  expect(numbers.toSorted((one, other) => one - other)).toEqual([1, 1, 2, 2]);
  fleet.kill();
});

it("BILL-01: a replaced worker that still has calls learns when the whole gateway stops", () => {
  const received: ((message: ToWorker) => void)[] = [];
  const start = { number: 1, count: 2, host: "127.0.0.1", port: 0, configPath: undefined };
  const link = createLink(start, {
    send: () => undefined,
    receive: (handler) => void received.push(handler),
  });
  const messages: boolean[] = [];
  link.serve({
    isOpen: () => true,
    measure: () => Promise.resolve([]),
    flushLogs: () => Promise.resolve(),
    stop: ({ replaced }) => void messages.push(replaced),
  });
  const sendStop = (replaced: boolean): void =>
    received[0]!({ kind: "stop", leaveMs: 0, replaced });
  sendStop(true);
  sendStop(false);
  sendStop(false);
  expect(messages).toEqual([true, false]);
});

it("a new worker that dies is started again, also while the worker before it still has calls", async () => {
  const { fleet, fakes } = await startFleet();
  const reloaded = fleet.reload();
  await expect.poll(() => stops(fakes[0]!)).toHaveLength(1);
  fakes[2]!.end();
  await expect.poll(() => fakes.map(({ worker }) => worker.number)).toEqual([1, 2, 1, 1]);
  expect(stops(fakes[3]!)).toEqual([]);
  fleet.kill();
  await reloaded;
});

it("a reload also replaces a worker that was just starting: it may have read the configuration of before", async () => {
  const fakes: Fake[] = [];
  const { promise: isReady, resolve: becomeReady } = Promise.withResolvers<void>();
  const fleet = new Fleet({
    count: 1,
    start(number) {
      const fake = fakeWorker(number);
      if (fakes.length === 1) {
        const { worker } = fake;
        worker.state = "starting";
        const ready = isReady.then(() => {
          worker.state = "ready";
          return { kind: "ready" as const, first: undefined, metricsUrl: undefined };
        });
        fakes.push({ ...fake, worker: Object.assign(worker, { ready }) });
      } else fakes.push(fake);
      return fake.worker;
    },
    log: silentLog,
    failed: () => undefined,
    gaveUp: () => undefined,
  });
  await fleet.start();
  fakes[0]!.end();
  await expect.poll(() => fakes.length).toBe(2);
  const reloaded = fleet.reload();
  becomeReady();
  await expect.poll(() => fakes.length).toBe(3);
  await expect.poll(() => stops(fakes[1]!)).toEqual([{ kind: "stop", leaveMs: 0, replaced: true }]);
  fakes[1]!.end();
  await reloaded;
  fleet.kill();
});

it("a reload that cannot start a process ends and keeps the old workers", async () => {
  const { fleet, fakes } = await startFleet(2);
  await fleet.reload();
  expect(fakes.flatMap(stops)).toEqual([]);
  const stopped = fleet.stop(0);
  for (const fake of fakes) fake.end();
  await stopped;
});

it("a reload that ends halfway logs that workers have two configurations, and one that replaced none logs that the old ones stay", async () => {
  const none = await startFleet(2);
  await none.fleet.reload();
  expect(none.errors).toMatchObject([{ worker: 1, replaced: 0, of: 2 }]);
  expect(none.errors).toMatchObject([{ message: expect.stringMatching(/the old ones stay$/) }]);
  none.fleet.kill();

  const half = await startFleet(3);
  const reloaded = half.fleet.reload();
  await expect.poll(() => half.fakes.flatMap(stops)).toHaveLength(1);
  half.fakes[0]!.end();
  await reloaded;
  expect(half.errors).toMatchObject([{ worker: 2, replaced: 1, of: 2 }]);
  expect(half.errors).toMatchObject([{ message: expect.stringMatching(/reload again$/) }]);
  half.fleet.kill();
});

it("workers that are killed at their start are retried a limited number of times, and then the fix is logged", async () => {
  const logged: object[] = [];
  const fakes: Fake[] = [];
  const { promise: hopeless, resolve: gaveUp } = Promise.withResolvers<readonly unknown[]>();
  const fleet = new Fleet({
    count: 2,
    start(number) {
      const fake = fakeWorker(number);
      fakes.push(fake);
      if (fakes.length <= 2) return fake.worker;
      const ready = Promise.reject(new Error("worker ended (SIGKILL) before it was ready"));
      ready.catch(() => undefined);
      return { ...fake.worker, state: "starting", ready, ended: Promise.resolve("SIGKILL") };
    },
    log: { ...silentLog, error: (fields: object) => void logged.push(fields) },
    trials: { pauseMs: 1, failuresMax: 3 },
    failed: () => undefined,
    gaveUp: (...given) => gaveUp(given),
  });
  await fleet.start();
  for (const fake of fakes) fake.end();
  const [error, fix] = await hopeless;
  fleet.kill();
  expect((error as Error).message).toBe("worker ended (SIGKILL) before it was ready");
  expect(fix).toMatch(/lack of memory/);
  const tries = logged.filter((fields) => "reason" in fields);
  expect(tries.length).toBeGreaterThanOrEqual(6);
  expect(tries.filter((fields) => !("fix" in fields))).toEqual([]);
});

it("restarts that cannot even start a process pause between tries, and end after a limited number", async () => {
  let tries = 0;
  const { promise: hopeless, resolve: gaveUp } = Promise.withResolvers<Error>();
  const fakes: Fake[] = [];
  const fleet = new Fleet({
    count: 2,
    start(number) {
      if (fakes.length === 2) {
        // Otherwise a wrong fleet would try for ever, without a turn for anything else.
        if ((tries += 1) > 100) fleet.kill();
        throw new Error("spawn ENOMEM");
      }
      const fake = fakeWorker(number);
      // They have run for long: a single failure is no reason to pause.
      fakes.push({ ...fake, worker: { ...fake.worker, startedMs: performance.now() - 60_000 } });
      return fakes.at(-1)!.worker;
    },
    log: silentLog,
    trials: { pauseMs: 1, failuresMax: 3 },
    failed: () => undefined,
    gaveUp: (error) => gaveUp(error),
  });
  await fleet.start();
  for (const fake of fakes) fake.end();
  expect(await hopeless).toMatchObject({ message: "spawn ENOMEM" });
  fleet.kill();
  expect(tries).toBeLessThan(20);
});
