/** If the system does not spread connections, Node's cluster module distributes them: the gateway behaves the same. */
import { expect, it } from "vitest";
import { drive, newLoad } from "../faults/load.ts";
import { eventually } from "../money/support.ts";
import {
  callOnce,
  isAlive,
  metric,
  startOf,
  startWorkers,
  whenReady,
  workersOf,
} from "./support.ts";

const withoutSockets = new URL("../support/no-bound-sockets.mjs", import.meta.url).href;

it.skipIf(process.platform !== "linux")(
  "without shared listening sockets, calls, a worker's death, SIGHUP and the stop work as usual",
  { timeout: 400_000 },
  async () => {
    const gateway = await startWorkers({ NODE_OPTIONS: `--import=${withoutSockets}` });
    try {
      const { url, key, child } = gateway;
      const workers = workersOf(child.pid!);
      expect(workers).toHaveLength(2);
      for (const pid of workers) expect(startOf(pid)).not.toContain('"sockets"');
      const calls = await Promise.all(Array.from({ length: 20 }, () => callOnce(gateway)));
      expect(calls.map(({ outcome }) => outcome)).toEqual(Array(20).fill("200"));
      expect(await metric(url, "tollgate_calls_total")).toBe(20);
      process.kill(workers[0]!, "SIGKILL");
      await eventually(() => (isAlive(workers[0]!) ? undefined : true), "its death");
      await whenReady(url);
      const load = newLoad();
      let isFinished = false;
      const text = '#sandbox {"reply": "a short answer", "delay_ms": 100}';
      const driven = drive(
        { url, key, perSecond: 20, model: "sandbox/chat", text, until: () => isFinished },
        load,
      );
      const old = workersOf(child.pid!);
      child.kill("SIGHUP");
      await eventually(() => (old.some(isAlive) ? undefined : true), "new workers", 120_000);
      isFinished = true;
      await driven;
      expect({ cut: load.cut, refused: [...load.refused] }).toEqual({ cut: 0, refused: [] });
      expect(await gateway.stop()).toBe(0);
    } finally {
      await gateway.kill();
    }
  },
);
