// Tasks can be listed by every model name that they can be created with. docs/tasks.md.
import { afterAll, beforeAll, expect, it } from "vitest";
import { clipConfiguration, startVideoVendor, type VideoVendor } from "../support/task-life.ts";
import { startBench, type Bench } from "./support.ts";

let vendor: VideoVendor;
let bench: Bench;
beforeAll(async () => {
  vendor = await startVideoVendor();
  const config = clipConfiguration(`${vendor.recorder.url}/v1`);
  bench = await startBench({
    config: config.replace("family: video-v1", "family: video-v1\n    aliases: [clip]"),
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.recorder.close();
});

it.each([
  ["clip", 1],
  ["clip:@price", 1],
  ["acme/clip", 1],
  ["acme/clip:xai", 1],
  ["acme/other", 0],
  ["no model", 0],
])("a list filtered by the model name %j has %i tasks", async (model, count) => {
  const headers = { "idempotency-key": "one" };
  const body = { model: "clip", prompt: "A boat", duration: 1, resolution: "480p" };
  const { id, model: modelId } = await bench.create(body, headers);
  expect(modelId).toBe("acme/clip");
  const listed = await bench.send("GET", `/v1/tasks?model=${encodeURIComponent(model)}`);
  const { data } = (await listed.json()) as { data: { id: string }[] };
  expect(data.map((task) => task.id)).toEqual(Array.from({ length: count }, () => id));
});
