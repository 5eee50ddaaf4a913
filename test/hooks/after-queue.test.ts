// The queue of hooks after calls: bounded, and separate for each hook.
import { expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { createAfterQueue } from "../../src/hooks/after-queue.ts";
import { HookFailedError } from "../../src/hooks/answer.ts";
import type { HookRequest } from "../../src/hooks/transport.ts";
import type { EndedCall } from "../../src/hooks/types.ts";
import type { OpenHook } from "../../src/hooks/observers.ts";

const settings = (name: string): OpenHook["settings"] => ({
  name,
  at: "after",
  target: { url: "http://127.0.0.1:1/", secret: "" },
  timeoutMs: 1_000,
  onFailure: "refuse",
});

/** A hook that answers when the test lets it, with the requests that it received. */
function holdingHook(name: string) {
  const asked: (HookRequest & { end: (error?: Error) => void })[] = [];
  const hook: OpenHook = {
    settings: settings(name),
    transport: {
      ask: (question) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error): void =>
            error === undefined ? resolve(Buffer.from("")) : reject(error);
          asked.push({ ...question, end });
        }),
      close: () => Promise.resolve(),
    },
  };
  return { hook, asked };
}

const ended = (id: string, text = "x"): EndedCall => ({
  id,
  endpoint: "chat_completions",
  model: "a",
  stream: false,
  caller: { workspaceId: "ws", keyId: "key", memberId: null },
  status: "succeeded",
  httpStatus: 200,
  errorCode: null,
  provider: "p",
  usage: undefined,
  costNano: 0n,
  durationMs: 1,
  answer: { text },
});

/** The default of limits.bodies_under_way_mb. */
const budgetOf = () => new ByteBudget(256 * 1024 * 1024);

function queueOf(hooks: readonly OpenHook[], budget = budgetOf()) {
  const outcomes: string[] = [];
  const failures: string[] = [];
  const listener = {
    observe({ name }: { name: string }, outcome: string, durationMs?: number) {
      outcomes.push(`${name} ${outcome}`);
      if ((outcome === "dropped") !== (durationMs === undefined)) failures.push("duration");
    },
    failed: ({ name }: { name: string }, error: unknown, call: string) =>
      failures.push(`${name} ${call} ${(error as Error).message}`),
  };
  const queue = createAfterQueue(hooks, listener, budget.part(1 / 8));
  const countOf = (what: string): number => outcomes.filter((one) => one === what).length;
  return { queue, countOf, failures };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("a dead hook takes no queue slots from another hook", async () => {
  const [dead, live] = [holdingHook("dead"), holdingHook("live")];
  const { queue, countOf, failures } = queueOf([dead.hook, live.hook]);
  for (let at = 0; at < 1_500; at += 1) {
    queue.add(dead.hook, ended(`c${at}`));
    queue.add(live.hook, ended(`c${at}`));
    for (const one of live.asked.splice(0)) one.end();
    await nextTurn();
  }
  expect(dead.asked).toHaveLength(8);
  expect(countOf("dead dropped")).toBe(500);
  expect(countOf("live dropped")).toBe(0);
  expect(countOf("live heard")).toBe(1_500);
  // Dropped events have no duration, all others have one.
  expect(failures).toEqual([]);
});

it("queued texts are limited in bytes, and delivered events make room for new ones", async () => {
  const [one, other] = [holdingHook("one"), holdingHook("other")];
  const { queue, countOf } = queueOf([one.hook, other.hook]);
  const long = "x".repeat(200_000);
  for (let at = 0; at < 200; at += 1) queue.add(one.hook, ended(`c${at}`, long));
  const dropped = countOf("one dropped");
  expect(200 - dropped).toBe(Math.ceil((16 * 1024 * 1024) / one.asked[0]!.text.length));
  queue.add(other.hook, ended("d"));
  expect(other.asked).toHaveLength(1);
  while (one.asked.length > 0) {
    for (const asked of one.asked.splice(0)) asked.end();
    await nextTurn();
  }
  queue.add(one.hook, ended("last"));
  expect(countOf("one dropped")).toBe(dropped);
  expect(one.asked.map(({ id }) => id)).toEqual(["last"]);
});

it("queued events count against the budget of bodies in flight, and are dropped while that budget is full", async () => {
  const { hook, asked } = holdingHook("one");
  const budget = new ByteBudget(16 * 1024 * 1024);
  const { queue, countOf } = queueOf([hook], budget);
  const long = "x".repeat(200_000);
  for (let at = 0; at < 20; at += 1) queue.add(hook, ended(`c${at}`, long));
  // The queue may hold an eighth of 16 MB.
  expect(countOf("one dropped")).toBe(10);
  expect(budget.heldBytes).toBeGreaterThan(2_000_000);
  for (const one of asked.splice(0)) one.end();
  await nextTurn();
  for (const one of asked.splice(0)) one.end();
  await nextTurn();
  expect(budget.heldBytes).toBe(0);
  budget.lease().add(12 * 1024 * 1024);
  budget.lease().add(4 * 1024 * 1024 - 100_000);
  queue.add(hook, ended("late", long));
  expect(countOf("one dropped")).toBe(11);
  expect(budget.heldBytes).toBe(16 * 1024 * 1024 - 100_000);
});

it("closing waits until all queued events are delivered or failed, and no longer", async () => {
  const { hook, asked } = holdingHook("one");
  const { queue, failures } = queueOf([hook]);
  const beganMs = performance.now();
  await queue.close();
  queue.add(hook, ended("a"));
  queue.add(hook, ended("b"));
  let isClosed = false;
  const closed = queue.close().then(() => (isClosed = true));
  asked[0]!.end();
  await nextTurn();
  expect(isClosed).toBe(false);
  asked[1]!.end(new HookFailedError("it is down"));
  await closed;
  expect(failures).toEqual(["one b it is down"]);
  expect(performance.now() - beganMs).toBeLessThan(2_500);
});

it("a hook that never answers delays the close by three seconds at most", async () => {
  const { hook } = holdingHook("one");
  const { queue } = queueOf([hook]);
  queue.add(hook, ended("a"));
  const beganMs = performance.now();
  await queue.close();
  expect(performance.now() - beganMs).toBeGreaterThan(2_900);
});
