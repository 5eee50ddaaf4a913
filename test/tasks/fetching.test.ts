// How many results are fetched at a time. After a stop hundreds may be ready at once, and each download takes memory. T86.
import { describe, expect, it } from "vitest";
import type { WatchedFiles } from "../../src/files/index.ts";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { defaultTiming } from "../../src/tasks/engine.ts";
import { createFetching, fetchesMax } from "../../src/tasks/fetching.ts";
import { pollStep } from "../../src/tasks/poll-step.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { jobOf, rowOf, running, taskCatalogOf, useWorld } from "./steps-support.ts";

const world = useWorld();

it("T86: forty videos that finish at once are fetched in half of the slots, and all are stored", async () => {
  const { files } = world.services;
  const gate = Promise.withResolvers<void>();
  let active = 0;
  let activeMax = 0;
  const slow: WatchedFiles = {
    ...files,
    async put(...given) {
      active += 1;
      activeMax = Math.max(activeMax, active);
      await gate.promise;
      active -= 1;
      return files.put(...given);
    },
  };
  world.vendor.plan("GET", ...Array.from({ length: 40 }, () => world.vendor.done));
  const jobs = [];
  for (let made = 0; made < 40; made += 1) jobs.push(await running(world));
  const services = { ...world.services, files: slow };
  const steps = Promise.all(jobs.map((job) => pollStep(services, job)));
  await eventually(
    () => Promise.resolve(active === fetchesMax / 2),
    "half of the places are taken",
  );
  gate.resolve();
  await steps;
  expect(activeMax).toBe(fetchesMax / 2);
  const after = await Promise.all(jobs.map(({ id }) => rowOf(world, id)));
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set(["succeeded"]));
});

it("T86 STORE-01: pictures whose URLs do not work yet hold no slot between attempts, so a video is fetched meanwhile", async () => {
  const painter = await startRecorder((request, response) =>
    request.method === "POST"
      ? json({ data: [{ url: `${painter.url}/made.png` }] })(request, response)
      : void response.writeHead(503).end(),
  );
  const catalog = taskCatalogOf(world.vendor, painter);
  const timing = { ...defaultTiming, downloadMs: 4_000, keepPauseMs: 1_000 };
  const services = { ...world.services, catalog: () => catalog, timing };
  const jobs = [];
  for (let made = 0; made < fetchesMax / 2; made += 1)
    jobs.push(await jobOf(world, "acme/pictures"));
  let ended = 0;
  const ending = (): void => void (ended += 1);
  const steps = Promise.all(jobs.map((job) => submitStep(services, job).then(ending)));
  const fetches = () => painter.requests.filter(({ method }) => method === "GET").length;
  await eventually(() => fetches() >= jobs.length, "a first try of all");
  world.vendor.plan("GET", world.vendor.done);
  const video = await running(world);
  await pollStep(services, video);
  expect(ended).toBe(0);
  expect((await rowOf(world, video.id)).status).toBe("succeeded");
  await steps;
  const ends = await Promise.all(jobs.map(({ id }) => rowOf(world, id)));
  expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["failed"]));
  await painter.close();
});

describe("the slots for fetching results", () => {
  const work = (workspaceId: string, id: string, log: string[]) => {
    const end = Promise.withResolvers<void>();
    return {
      of: { workspaceId, id },
      end: end.resolve,
      run: () => {
        log.push(`${workspaceId}${id}`);
        return end.promise;
      },
    };
  };

  it("a workspace with many results leaves slots to another workspace, and free slots are taken in order", async () => {
    const fetching = createFetching(4);
    const log: string[] = [];
    const all = ["1", "2", "3", "4"].map((id) => work("a", id, log));
    const other = work("b", "1", log);
    const ends = [...all, other].map(({ of, run }) => fetching.withSlot(of, run));
    expect(log).toEqual(["a1", "a2", "b1"]);
    all[0]!.end();
    await ends[0];
    expect(log).toEqual(["a1", "a2", "b1", "a3"]);
    for (const { end } of [...all, other]) end();
    await Promise.all(ends);
    expect(log).toEqual(["a1", "a2", "b1", "a3", "a4"]);
  });

  it("a failed fetch frees its slot", async () => {
    const fetching = createFetching(2);
    const fails = () => Promise.reject(new Error("cut"));
    for (const id of ["1", "2", "3"])
      await expect(fetching.withSlot({ workspaceId: "a", id }, fails)).rejects.toThrow("cut");
    expect(
      await fetching.withSlot({ workspaceId: "a", id: "4" }, () => Promise.resolve("kept")),
    ).toBe("kept");
  });
});
