/** Waiting within a request for the end of a task: only the task's own end wakes it, and it does not poll until then. TASK-08. */
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Signals } from "../../src/storage/index.ts";
import type { Task } from "../../src/tasks/index.ts";
import { createWaiting } from "../../src/tasks/wait.ts";

function waitingFor(id: string) {
  let notify: (name: string) => void = () => undefined;
  const signals = {
    subscribe: (_channel: string, handler: typeof notify) => {
      notify = handler;
      return () => undefined;
    },
  } as unknown as Signals;
  const task = { workspaceId: "w1", id, status: "running" } as Task;
  let reads = 0;
  let now = task;
  let fails = false;
  const waiting = createWaiting(signals, () => {
    reads += 1;
    if (fails) return Promise.reject(new Error("the database is away"));
    // Stop a reader that asks without a pause, as it would block the event loop.
    return reads > 50 ? new Promise(() => undefined) : Promise.resolve(now);
  });
  let outcome: Task | undefined;
  const abort = new AbortController();
  waiting.until(task, 60_000, abort.signal).then(
    (latest) => (outcome = latest),
    (error: Error) => (outcome = { ...task, status: error.message as Task["status"] }),
  );
  return {
    abort,
    waiting,
    notify: (name: string) => notify(name),
    fail: () => void (fails = true),
    end() {
      fails = false;
      now = { ...task, status: "succeeded" };
    },
    /** After some turns of the event loop, returns the number of reads and the answered status. */
    async seen() {
      for (let turns = 0; turns < 20; turns += 1) await setImmediate();
      return [reads, outcome?.status];
    },
  };
}

it("TASK-09: a waiting call wakes at once when its own task ends, not for another task, and does not read meanwhile", async () => {
  const one = waitingFor("task_1");
  expect(await one.seen()).toEqual([1, undefined]);
  one.end();
  one.notify("w1 task_2");
  one.notify("w2 task_1");
  expect(await one.seen()).toEqual([1, undefined]);
  one.notify("w1 task_1");
  expect(await one.seen()).toEqual([2, "succeeded"]);
});

it("a waiting call ends with the task's present state when its caller leaves or the gateway closes", async () => {
  const left = waitingFor("task_1");
  await left.seen();
  left.abort.abort();
  expect(await left.seen()).toEqual([2, "running"]);
  const closed = waitingFor("task_1");
  await closed.seen();
  closed.waiting.close();
  expect(await closed.seen()).toEqual([2, "running"]);
});

it("TASK-09: a database error does not end a waiting call: it gets the last known state, or the end after recovery", async () => {
  const broken = waitingFor("task_1");
  broken.fail();
  await broken.seen();
  broken.notify("w1 task_1");
  await broken.seen();
  broken.abort.abort();
  expect((await broken.seen())[1]).toBe("running");
  const recovered = waitingFor("task_1");
  recovered.fail();
  await recovered.seen();
  recovered.end();
  recovered.notify("w1 task_1");
  expect((await recovered.seen())[1]).toBe("succeeded");
});
