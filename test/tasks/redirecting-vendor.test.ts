/** A vendor that answers a submission, poll or cancellation with a redirect: the gateway does not follow it. T77, T80, T81. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { cancelTask } from "../../src/tasks/cancel.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { jobOf, rowOf, running, useWorld } from "./steps-support.ts";
import { says, type Reply } from "./support.ts";

const world = useWorld();
let redirectTarget: Recorder;
beforeAll(async () => {
  redirectTarget = await startRecorder(json({ id: "job-2", status: "succeeded" }));
});
afterAll(() => redirectTarget.close());

const redirect =
  (status: number): Reply =>
  (response) =>
    void response.writeHead(status, { location: `${redirectTarget.url}/api/v3/jobs` }).end();

it.each([301, 302, 303, 307, 308])(
  "T77 T81: the redirect %i of a submission is not followed, and the submission is not repeated",
  async (status) => {
    world.vendor.plan("POST", redirect(status));
    const { id } = await jobOf(world, "acme/clip");
    await submitStep(world.services, await rowOf(world, id));
    expect(await rowOf(world, id)).toMatchObject({
      status: "failed",
      error: { code: "submission_uncertain" },
    });
    expect([world.vendor.calls("POST").length, redirectTarget.requests]).toEqual([1, []]);
  },
);

it.each([302, 307])(
  "T77 T80: the redirect %i of a poll is not followed, and the task keeps running",
  async (status) => {
    world.vendor.plan("GET", redirect(status));
    const job = await running(world);
    await pollStep(world.services, job);
    expect(await rowOf(world, job.id)).toMatchObject({ status: "running" });
    expect(redirectTarget.requests).toEqual([]);
  },
);

it("T77 T82: the redirect of a cancellation is not followed, and confirms nothing", async () => {
  world.vendor.plan("GET", says.running);
  world.vendor.plan("DELETE", redirect(307));
  const job = await running(world);
  await expect(cancelTask(world.services, "w1", job.id)).rejects.toMatchObject({
    code: "task_not_cancelable",
  });
  expect(redirectTarget.requests).toEqual([]);
});
