/** When a task that no vendor accepted is submitted again, as a table and step by step. docs/tasks.md "When no vendor accepts it". */
import { describe, expect, it } from "vitest";
import { Health } from "../../src/routing/index.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { pauseAfterRoundMs } from "../../src/tasks/rounds.ts";
import { clock, jobOf, rowOf, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

describe("pauses between rounds", () => {
  it.each([
    [1, 0, 0, undefined, 500],
    [2, 600, 0, undefined, 2_000],
    [3, 2_700, 0, undefined, undefined],
    // The vendor's requested pause only counts if there is time for it.
    [1, 0, 0, 10_000, 500],
    [3, 2_700, 0, 10_000, undefined],
    [1, 0, 600_000, 10_000, 10_000],
    [1, 0, 600_000, 7_200_000, 120_000],
    // Later pauses are a quarter of the time waited so far, from 4 seconds to 5 minutes.
    [3, 2_700, 600_000, undefined, 4_000],
    [9, 40_000, 600_000, undefined, 10_000],
    [40, 4_000_000, 21_600_000, undefined, 300_000],
    // The last round is at the end of the retry time.
    [20, 598_000, 600_000, undefined, 2_000],
    [20, 598_000, 600_000, 60_000, 60_000],
    [21, 600_000, 600_000, undefined, undefined],
    [21, 600_000, 600_000, 60_000, undefined],
    // A task that waited long in the queue gets its first rounds even after the retry time.
    [1, 900_000, 600_000, undefined, 500],
  ])(
    "T81: after round %d, %d ms after submission, with %d ms to retry and a requested pause of %s: %s",
    (...row) => {
      const [round, waitedMs, retryForMs, askedPauseMs, pauseMs] = row;
      expect(pauseAfterRoundMs({ round, waitedMs, retryForMs, askedPauseMs })).toBe(pauseMs);
    },
  );

  it("a task that may wait for six hours is submitted at most a hundred times", () => {
    const retryForMs = 21_600_000;
    let [round, waitedMs] = [0, 0];
    for (let pauseMs: number | undefined = 0; pauseMs !== undefined; waitedMs += pauseMs ?? 0) {
      round += 1;
      pauseMs = pauseAfterRoundMs({ round, waitedMs, retryForMs });
    }
    expect(round).toBeLessThanOrEqual(100);
    expect(waitedMs).toBe(retryForMs);
  });
});

describe("a task that no provider accepts", () => {
  it("T81: is submitted again with growing pauses, as the vendor asks, if retries are configured", async () => {
    const busy = ["1", "1", "1", "30", "7200", "1"].map((after) => says.throttled(after, 503));
    world.vendor.plan("POST", ...busy, says.taken("job-1"));
    let job = await jobOf(world, "acme/clip");
    const seen: string[] = [];
    for (let steps = 0; steps < 9 && job.status === "queued"; steps += 1) {
      world.services = { ...world.services, retryForMs: 600_000, health: new Health({ clock }) };
      await submitStep(world.services, job);
      await world.database.query("update tasks set lease_token = 'mine' where id = $1", [job.id]);
      job = await rowOf(world, job.id);
      const dueMs = world.dueInMs.pop()!;
      seen.push(`${job.attempt} ${job.status} ${dueMs}`);
      clock.advance(dueMs);
    }
    expect(seen).toEqual([
      "1 queued 1000",
      "2 queued 2000",
      "3 queued 4000",
      "4 queued 30000",
      "5 queued 120000",
      "6 queued 39250",
      "6 running 500",
    ]);
  });
});
