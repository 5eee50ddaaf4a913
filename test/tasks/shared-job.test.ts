/** A vendor that gives two tasks one job: nobody can tell whose it is, so the operator is told, and not of ids that vendors share by chance. */
import { expect, it } from "vitest";
import { askStep } from "../../src/tasks/ask-step.ts";
import { jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

it("a job that another running task has is told to the operator, and both tasks go on", async () => {
  const first = await running(world, { upstream_id: "cgt-same" });
  const stranger = await running(world, { upstream_id: "cgt-same", provider: "two" });
  const faults: object[] = [];
  const log = { ...world.services.log, error: (fields: object) => void faults.push(fields) };
  world.vendor.plan("POST", says.taken("cgt-same"));
  const second = await jobOf(world, "acme/clip");
  await askStep({ ...world.services, log }, second);
  expect(faults).toEqual([
    {
      task: second.id,
      provider: "one",
      upstream_id: "cgt-same",
      others: [first.id],
      across_workspaces: false,
    },
  ]);
  expect(stranger.id).not.toBe(first.id);
  expect(await rowOf(world, first.id)).toMatchObject({ status: "running" });
  expect(await rowOf(world, second.id)).toMatchObject({
    status: "running",
    upstreamId: "cgt-same",
  });
});
