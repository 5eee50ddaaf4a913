/** A busy or unavailable vendor refuses a poll and mentions moderation: that is no moderation result. T80; docs/tasks.md. */
import { expect, it } from "vitest";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { rowOf, running, useWorld } from "./steps-support.ts";
import { says } from "./support.ts";

const world = useWorld();

it.each([
  [503, "ContentModerationUnavailable", "running"],
  [500, "DataInspectionTimeout", "running"],
  [429, "Throttling.ContentModeration", "running"],
  [408, "content_policy_timeout", "running"],
  [400, "OutputVideoSensitiveContentDetected.RiskDetection", "failed"],
] as const)("T80: a poll refused with %i %s leaves the task %s", async (status, code, expected) => {
  world.vendor.plan("GET", says.refused(status, code));
  const job = await running(world);
  await pollStep(world.services, job);
  expect(await rowOf(world, job.id)).toMatchObject({ status: expected });
});
