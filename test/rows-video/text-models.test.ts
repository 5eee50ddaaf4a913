// DashScope's models of text alone: a picture is refused, because the vendor ignores it and charges for another video.
import { afterAll, beforeAll, expect, it } from "vitest";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";

let vendor: Recorder;
let bench: Bench;

const price = `{ output_second: { 480p: "0.05" }, input_image: "0" }`;
const model = (id: string, upstream: string) =>
  `  - { id: acme/${id}, kind: video, family: video-seconds, offers: [{ provider: films, upstream_model: ${upstream}, price: ${price} }] }`;

beforeAll(async () => {
  vendor = await startRecorder(json({ output: { task_id: "job-1", task_status: "PENDING" } }));
  bench = await startBench({
    config: [
      "providers:",
      `  - { id: films, dialect: dashscope, base_url: "${vendor.url}/api/v1", api_key: k }`,
      "models:",
      model("text", "wan2.7-t2v-2026-06-12"),
      model("frames", "wan2.7-i2v"),
    ].join("\n"),
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const picture = { url: "https://1.1.1.1/a.png" };
const create = (name: string, material: object) =>
  bench.send("POST", "/v1/tasks", {
    body: { model: `acme/${name}`, prompt: "A boat", ...material },
  });

it.each([
  ["image", { image: picture }],
  ["image", { media: [{ type: "first_frame", ...picture }] }],
  ["reference_images", { reference_images: [picture] }],
] as const)(
  "%s is refused with a model that makes videos from text: %j",
  async (param, material) => {
    const before = await bench.available();
    const answer = await create("text", material);
    const { error } = (await answer.json()) as { error: object };
    expect([answer.status, error]).toEqual([
      400,
      expect.objectContaining({
        param,
        code: "unsupported_value",
        message: `${param}: the model makes videos from text only.`,
      }),
    ]);
    expect(await bench.available()).toBe(before);
    expect(vendor.requests).toEqual([]);
  },
);

it("text alone is accepted there, and a picture by a model that takes one", async () => {
  expect((await create("text", {})).status).toBe(200);
  expect((await create("frames", { image: picture })).status).toBe(200);
});
