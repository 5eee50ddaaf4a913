// A vendor names the address of one picture several times: it made one, so one is stored and charged. BILL-04.
import { afterAll, beforeAll, expect, it } from "vitest";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { plain, startImages, type ImageBench } from "./support.ts";
import type { TaskBody } from "../task-http/support.ts";

let vendor: Recorder;
let bench: ImageBench;

const configuration = (url: string) => `
providers:
  - { id: wan, dialect: dashscope, base_url: "${url}", api_key: key-of-wan }
models:
  - id: acme/wan
    kind: image
    family: image-c
    offers:
      - { provider: wan, upstream_model: wan-image, price: { output_image: "0.02" } }
`;

beforeAll(async () => {
  vendor = await startRecorder(json({}));
  bench = await startImages({
    config: configuration(vendor.url),
    environment: { TOLLGATE_ALLOW_PRIVATE_ADDRESSES: "on" },
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

/** A task of four pictures whose vendor answers with this output, and reports `count` pictures. */
async function runTask(output: object, count?: number): Promise<TaskBody> {
  const picture = await plain();
  vendor.answer((request, response) => {
    if (request.path.includes(".png")) {
      response.writeHead(200, { "content-type": "image/png" });
      return void response.end(picture);
    }
    const state = request.method === "POST" ? { task_status: "PENDING" } : output;
    const usage = { image_count: count };
    return json({ output: { task_id: "job-1", ...state }, usage })(request, response);
  });
  const body = { model: "acme/wan", prompt: "A boat", n: 4 };
  const sent = await bench.send("POST", "/v1/tasks", { body, headers: { prefer: "wait=20" } });
  const { id } = (await sent.json()) as TaskBody;
  return bench.until(id, "succeeded", "failed");
}

const choice = (...urls: string[]) => ({
  message: { content: urls.map((image) => ({ type: "image", image })) },
});

it("BILL-04: an address that stands in both lists, or twice in one, counts as one picture", async () => {
  const [one, two] = [`${vendor.url}/1.png`, `${vendor.url}/2.png`];
  const twice = await runTask({
    task_status: "SUCCEEDED",
    choices: [choice(one, two), choice(one)],
  });
  const both = await runTask({
    task_status: "SUCCEEDED",
    choices: [choice(one), choice(two)],
    results: [{ url: one }, { url: two }],
  });
  for (const task of [twice, both])
    expect(task).toMatchObject({ status: "succeeded", cost: "0.04", usage: { output_images: 2 } });
});

it("BILL-04: addresses that differ only in their query are different pictures", async () => {
  const urls = ["a", "b", "c"].map((name) => `${vendor.url}/1.png?part=${name}`);
  const task = await runTask({ task_status: "SUCCEEDED", choices: [choice(...urls)] });
  expect(task).toMatchObject({ cost: "0.06", usage: { output_images: 3 } });
});

it("BILL-09, TASK-23: a repeated address counts as often as the vendor reports pictures, and each is stored and charged", async () => {
  const one = `${vendor.url}/1.png`;
  const task = await runTask({ task_status: "SUCCEEDED", choices: [choice(one), choice(one)] }, 2);
  expect(task).toMatchObject({ status: "succeeded", cost: "0.04", usage: { output_images: 2 } });
  expect(task.output.images.map(({ index }) => index)).toEqual([0, 1]);
  const both = await runTask(
    { task_status: "SUCCEEDED", choices: [choice(one, one)], results: [{ url: one }] },
    2,
  );
  expect(both).toMatchObject({ cost: "0.04", usage: { output_images: 2 } });
});
