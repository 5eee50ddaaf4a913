/** How fast the gateway polls a vendor's account after the vendor rate-limits polls. docs/tasks.md "Deadlines"; T80. */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { atOnceMax, createPollRateLimiter } from "../../src/tasks/poll-rate-limiter.ts";
import { defaultTiming } from "../../src/tasks/engine.ts";
import { startRunner } from "../../src/tasks/runner.ts";
import { eventually } from "../support/patience.ts";
import { clock, jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const task = (id: string, workspaceId = "w1") => ({ workspaceId, id });
const createPaced = () => {
  const time = { nowMs: 0 };
  const pace = createPollRateLimiter(() => time.nowMs);
  /** Begins and ends a poll. Returns whether it was allowed to begin. */
  const begin = (account = "one a"): boolean => {
    const isBegun = pace.begin(account, task("t"));
    pace.end(account, task("t"));
    return isBegun;
  };
  /** Begins as many polls as allowed within `ms` and answers each with `reply`. Returns their number. */
  const pollFor = (ms: number, reply: (begunMs: number) => void): number => {
    let begun = 0;
    for (const endMs = time.nowMs + ms; time.nowMs < endMs; time.nowMs += 1) {
      if (!begin()) continue;
      begun += 1;
      reply(time.nowMs);
    }
    return begun;
  };
  return { pace, time, pollFor, begin };
};
const answered = (pace: ReturnType<typeof createPollRateLimiter>) => () => pace.answered("one a");

describe("the poll rate of an account", () => {
  it("is unlimited until a poll is refused, and then half of the polls of the last second", () => {
    const { pace, pollFor, time, begin } = createPaced();
    for (let count = 0; count < 40; count += 1) begin();
    expect([pace.pausedAccounts(), pace.waitMs()]).toEqual([[], undefined]);
    // All polls that were in flight with it are refused too, and count as one refusal.
    for (let count = 0; count < 40; count += 1) pace.refused("one a", -1);
    pace.refused("one a", 0);
    expect([begin(), begin("one b")]).toEqual([false, true]);
    expect([pace.pausedAccounts(), pace.waitMs()]).toEqual([["one a"], 1_000]);
    time.nowMs = 1_000;
    expect([20, 21]).toContain(pollFor(1_000, answered(pace)));
  });

  it("a refused account pauses as long as the vendor asks, at most two minutes, and longer with each refusal in a row", () => {
    const { pace, time, begin } = createPaced();
    begin();
    pace.refused("one a", 0, 45_000);
    expect(pace.waitMs()).toBe(45_000);
    pace.refused("one a", 0, 86_400_000);
    expect(pace.waitMs()).toBe(120_000);
    const pauses = [];
    for (time.nowMs = 120_000; pauses.length < 6; time.nowMs += pauses.at(-1)!) {
      pace.refused("one a", time.nowMs);
      pauses.push(pace.waitMs()!);
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it("grows by a tenth of a poll per second each second, and is unlimited after ten minutes without a refusal", () => {
    const { pace, time, pollFor, begin } = createPaced();
    for (let count = 0; count < 10; count += 1) begin();
    pace.refused("one a", 0);
    time.nowMs = 1_000;
    expect([5, 6]).toContain(pollFor(1_000, answered(pace)));
    pollFor(98_000, answered(pace));
    // The pace grows from 5 a second by 10 in a hundred seconds.
    const later = pollFor(1_000, answered(pace));
    expect(later).toBeGreaterThanOrEqual(14);
    expect(later).toBeLessThanOrEqual(16);
    time.nowMs = 601_000;
    begin();
    expect([begin(), begin(), begin()]).toEqual([true, true, true]);
  });

  it("finds the vendor's own limit: less than one percent of the polls are refused", () => {
    const { pace, time, pollFor, begin } = createPaced();
    let refused = 0;
    const times: number[] = [];
    // The vendor allows twenty polls in any second.
    const vendor = (begunMs: number): void => {
      while (times.length > 0 && times[0]! <= begunMs - 1_000) times.shift();
      if (times.length >= 20) {
        refused += 1;
        return pace.refused("one a", begunMs);
      }
      times.push(begunMs);
      pace.answered("one a");
    };
    for (let count = 0; count < 64; count += 1) begin();
    for (let count = 0; count < 64; count += 1) vendor(time.nowMs);
    expect(refused).toBe(44);
    const asked = pollFor(300_000, vendor);
    expect(refused - 44).toBeLessThan(asked / 100);
    // The gateway uses at least half of the allowed polls.
    expect(asked).toBeGreaterThan(3_000);
  });
});

it("an account has a limited number of concurrent polls, half of them for one workspace, even if an end is reported twice", () => {
  const { pace } = createPaced();
  const beginAll = (workspace: string): number => {
    const names = Array.from({ length: 100 }, (_, at) => task(`${workspace} ${at}`, workspace));
    return names.filter((one) => pace.begin("one a", one)).length;
  };
  expect([beginAll("w1"), pace.full(), pace.pausedAccounts()]).toEqual([32, ["w1 one a"], []]);
  expect([beginAll("w2"), pace.begin("one b", task("t"))]).toEqual([16, true]);
  for (const name of ["w3", "w4", "w5", "w6", "w7", "w8", "w9"]) beginAll(name);
  expect([pace.pausedAccounts(), pace.waitMs()]).toEqual([["one a"], undefined]);
  const end = () => pace.end("one a", task("w1 0"));
  expect([end(), end(), pace.pausedAccounts()]).toEqual([true, false, []]);
  expect(pace.begin("one a", task("another", "w10"))).toBe(true);
});

const world = useWorld();

describe("polls of one account", () => {
  it("T80: all wait after one was refused, and those of another account do not", async () => {
    world.vendor.plan("GET", says.throttled("60"));
    const due = { due_at: new Date(clock.now() - 1), lease_token: null };
    const first = await running(world, due);
    const timing = { ...defaultTiming, sweepMs: 20 };
    const runner = startRunner({ ...world.services, timing });
    await eventually(
      async () => ((await rowOf(world, first.id)).leaseToken === null ? true : undefined),
      "the refused poll",
    );
    await eventually(() => (world.vendor.calls("GET").length === 1 ? true : undefined), "a poll");
    world.vendor.plan("GET", world.vendor.done);
    const second = await running(world, due);
    const other = await running(world, { ...due, provider: "two" });
    await eventually(
      async () => ((await rowOf(world, other.id)).status === "succeeded" ? true : undefined),
      "the other account's job",
    );
    expect(await rowOf(world, second.id)).toMatchObject({ status: "running", leaseToken: null });
    expect(world.vendor.calls("GET")).toHaveLength(2);
    // A job past its deadline is still polled a last time.
    const over = await running(world, { ...due, expires_at: new Date(clock.now() - 1) });
    await eventually(
      async () => ((await rowOf(world, over.id)).status === "succeeded" ? true : undefined),
      "the job that is over",
    );
    await runner.close();
  });
});

it("T80: an account that does not answer takes no slots from another account's tasks in the same workspace", async () => {
  const silent: ServerResponse[] = [];
  const due = { due_at: new Date(clock.now() - 10_000), lease_token: null };
  world.vendor.plan("GET", (response) => void silent.push(response));
  for (let count = 0; count < 70; count += 1) await running(world, due);
  const timing = { ...defaultTiming, sweepMs: 20, questionMs: 60_000 };
  const runner = startRunner({ ...world.services, timing });
  await eventually(
    () => (silent.length >= atOnceMax / 2 ? true : undefined),
    "polls without answer",
  );
  world.vendor.plan("GET", world.vendor.done);
  const other = await running(world, { ...due, due_at: new Date(clock.now()), provider: "two" });
  await eventually(
    async () => ((await rowOf(world, other.id)).status === "succeeded" ? true : undefined),
    "the other account's job",
  );
  expect(silent).toHaveLength(atOnceMax / 2);
  runner.stopSteps();
  for (const response of silent) response.destroy();
  await runner.close();
  await world.database.query("delete from tasks where status = 'running'");
});

it("the retry of a refused picture takes no slot for polls", async () => {
  // The vendor works during the submission, so the task is already running.
  const refusedOnce = { status: "running", lease_token: null, attempt: 0 };
  const job = await jobOf(world, "acme/pictures", refusedOnce);
  const lanes = new Set<unknown>();
  const { database } = world;
  const runner = startRunner({
    ...world.services,
    database: {
      ...database,
      query: (async (sql: string, values: unknown[], options?: { name?: string }) => {
        const rows = await database.query<{ id: string }>(sql, values, options);
        if (options?.name === "tasks_claim" && rows.some(({ id }) => id === job.id))
          lanes.add(values[2]);
        return rows;
      }) as typeof database.query,
    },
  });
  await eventually(() => (lanes.size > 0 ? true : undefined), "its claim");
  await runner.close();
  expect([...lanes]).toEqual(["ask"]);
});
