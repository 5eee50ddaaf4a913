/** Submissions that wait while their result could not be stored. docs/tasks.md; docs/data.md "When files cannot be kept". */
import { expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { defaultTiming, type TaskServices } from "../../src/tasks/engine.ts";
import { jobOf, rowOf, useWorld } from "./steps-support.ts";

const world = useWorld();

it("while the storage fails, a task waits if its vendor answers with the result, and is submitted if its vendor keeps it", async () => {
  const failure = new GatewayError("storage_unavailable", "No room.");
  const failing: TaskServices = { ...world.services, files: { ...world.services.files, failure } };
  const pictures = await jobOf(world, "acme/pictures");
  await submitStep(failing, pictures);
  expect([world.painter.requests.length, world.dueInMs]).toEqual([0, [defaultTiming.shortageMs]]);
  expect(await rowOf(world, pictures.id)).toMatchObject({
    status: "queued",
    attempt: 0,
    attempts: [],
  });
  await submitStep(failing, await jobOf(world, "acme/clip"));
  expect(world.vendor.calls("POST")).toHaveLength(1);
  await submitStep(world.services, await jobOf(world, "acme/pictures"));
  expect(world.painter.requests).toHaveLength(1);
});
