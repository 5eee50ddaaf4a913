/** A vendor that refuses a poll with Retry-After. docs/tasks.md "Deadlines"; T80. */
import { describe, expect, it } from "vitest";
import { defaultTiming } from "../../src/tasks/engine.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { clock, rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

/** Milliseconds until the next poll of a task whose poll was refused with this header. */
async function nextPollMs(retryAfter: string, change: object = {}): Promise<number | undefined> {
  world.dueInMs.length = 0;
  world.vendor.plan("GET", says.throttled(retryAfter));
  const job = await running(world, change);
  await pollStep(world.services, job);
  const row = await rowOf(world, job.id);
  expect(row).toMatchObject({ status: "running", misses: 0 });
  const [stored] = await world.database.query<{ due_at: Date }>(
    "select due_at from tasks where id = $1",
    [job.id],
  );
  expect(stored!.due_at.getTime() - clock.now()).toBe(world.dueInMs[0]);
  return world.dueInMs[0];
}

describe("a poll that is refused with Retry-After", () => {
  it("T80: is repeated after that time, in seconds or as a date", async () => {
    expect(await nextPollMs("45")).toBe(45_000);
    const date = new Date(clock.now() + 60_000).toUTCString();
    const pause = await nextPollMs(date);
    expect(pause).toBeGreaterThan(58_000);
    expect(pause).toBeLessThanOrEqual(60_000);
  });

  it("T80: waits at most two minutes, and never past the deadline of its task", async () => {
    expect(await nextPollMs("86400")).toBe(120_000);
    expect(await nextPollMs("9".repeat(400))).toBe(defaultTiming.firstPollMs);
    const expires = { expires_at: new Date(clock.now() + 7_000) };
    expect(await nextPollMs("60", expires)).toBe(7_000);
  });

  it.each(["0", "-5", "soon", "", "Thu, 01 Jan 1970 00:00:00 GMT"])(
    "T80: is repeated after the usual time for the value %j",
    async (retryAfter) => {
      expect(await nextPollMs(retryAfter)).toBe(defaultTiming.firstPollMs);
    },
  );
});
