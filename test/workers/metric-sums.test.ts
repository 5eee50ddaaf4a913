/** Counts of workers never go backwards and are never counted twice, whenever a worker ends. docs/monitoring.md. */
import { expect, it } from "vitest";
import type { MetricFamily } from "../../src/base/metric-family.ts";
import { Hub } from "../../src/cli/workers/hub.ts";
import type { WorkerProcess } from "../../src/cli/workers/worker-process.ts";

const counted = (value: number): MetricFamily[] => [
  {
    name: "calls_total",
    help: "Calls.",
    type: "counter",
    joined: "sum",
    lines: [["calls_total", value]],
  },
];

/** A worker that answers when the test says so; `sent` has the messages that it got. */
function newWorker() {
  const asked = Promise.withResolvers<MetricFamily[]>();
  const sent: { answer: MetricFamily[] }[] = [];
  const worker = {
    state: "ready",
    measured: [] as MetricFamily[],
    send: (message: { answer: MetricFamily[] }) => void sent.push(message),
    ask: () => asked.promise,
  };
  return { worker: worker as unknown as WorkerProcess, sent, answer: asked.resolve };
}

it("a worker that ends while the others are still asked for metrics is counted once", async () => {
  const hub = new Hub(2);
  const [ending, slow] = [newWorker(), newWorker()];
  for (const { worker } of [ending, slow]) hub.enter(worker, false);
  hub.received(slow.worker, { kind: "ask", id: 1, what: "metrics" });
  ending.answer(counted(100));
  await expect.poll(() => ending.worker.measured).toHaveLength(1);
  hub.leave(ending.worker);
  slow.answer(counted(10));
  await expect.poll(() => slow.sent).toHaveLength(1);
  const calls = slow.sent[0]!.answer.find(({ name }) => name === "calls_total");
  expect(calls?.lines).toEqual([["calls_total", 110]]);
});
