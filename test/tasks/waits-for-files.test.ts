/** Submissions that wait while their result could not be stored, or their picture not be read. docs/tasks.md; docs/data.md "When files cannot be kept". */
import { Readable } from "node:stream";
import { expect, it, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import { hourOf } from "../../src/routing/index.ts";
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

it("a picture that cannot be read now is no failure of the provider, which was not asked; the log says why the task waits", async () => {
  const firstFrame = { name: "a.png", mediaType: "image/png", bytes: 4 };
  const warn = vi.fn();
  const services: TaskServices = {
    ...world.services,
    openUpload: () => new Readable().destroy(new Error("not now")),
    log: { ...world.services.log, warn },
  };
  const { id } = await jobOf(world, "acme/clip");
  await world.database.query("update tasks set request = request || $2 where id = $1", [
    id,
    JSON.stringify({ firstFrame, mode: "image" }),
  ]);
  await submitStep(services, await rowOf(world, id));
  expect(await rowOf(world, id)).toMatchObject({ status: "queued", attempts: [] });
  expect(world.dueInMs).toEqual([defaultTiming.shortageMs]);
  expect(hourOf(services.health.outcomes.take()).get("one")).toEqual({
    calls_last_hour: 1,
    errors_last_hour: [],
  });
  const reason = expect.stringContaining("a file of the request could not be read");
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ request_id: id, provider: "one", reason }),
    "an attempt at a provider failed",
  );
});
