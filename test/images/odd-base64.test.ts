// Pictures that vendors do not write as plain base64: as data URLs, in lines, in base64url, without padding. The gateway answers with
// and stores the picture, in base64 that the strictest decoder accepts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { json, sse, startRecorder, type Recorder } from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";
import { picture, type ImageAnswer } from "./support.ts";

let vendor: Recorder;
let bench: Bench;
let plain: string;
const tokens = `{ input: "5", image_input: "8", output: "10", image_output: "30" }`;
const tiers = `{ low: { 1K: "0.01", 2K: "0.02" }, medium: { 1K: "0.03", 2K: "0.04" } }`;
beforeAll(async () => {
  plain = (await picture("png", { width: 64, height: 47 })).toString("base64");
  vendor = await startRecorder(json({}));
  bench = await startBench({
    config: `
providers:
  - { id: compatible, dialect: openai-compatible, base_url: "${vendor.url}/one/v1", api_key: k1 }
  - { id: xai, dialect: xai, base_url: "${vendor.url}/two/v1", api_key: k2 }
models:
  - id: acme/make
    kind: image
    family: image-a
    offers: [{ provider: compatible, upstream_model: one, price: ${tokens} }]
  - id: acme/task
    kind: image
    family: task-image-1
    offers: [{ provider: xai, upstream_model: two, price: { output_image: ${tiers}, input_image: "0.001" } }]
`,
  });
  await bench.credit("100");
});
afterAll(async () => {
  await bench?.close();
  await vendor?.close();
});

const unpadded = (base64: string) => base64.replace(/=+$/, "");
const ways: readonly [title: string, item: (base64: string) => object][] = [
  ["b64_json after the head of a data URL", (it) => ({ b64_json: `data:image/png;base64,${it}` })],
  ["url with the picture in it", (it) => ({ url: `data:image/png;base64,${it}` })],
  ["lines of 76 characters", (it) => ({ b64_json: it.replace(/(.{76})/g, "$1\r\n") })],
  [
    "the alphabet of URLs",
    (it) => ({ b64_json: unpadded(it).replaceAll("+", "-").replaceAll("/", "_") }),
  ],
  ["no padding", (it) => ({ b64_json: unpadded(it) })],
];
const make = (fields: object = {}) =>
  bench.post("/v1/images/generations", { model: "acme/make", prompt: "A boat", ...fields });

describe.each(ways)("a vendor's picture: %s", (_title, item) => {
  it("IMG-20: is answered as plain base64", async () => {
    expect(plain).toMatch(/[+/].*=$/);
    vendor.answer(json({ data: [item(plain)] }));
    const answer = await make();
    const { data, size } = (await answer.json()) as ImageAnswer;
    expect([answer.status, size]).toEqual([200, "64x47"]);
    expect(data).toEqual([{ b64_json: plain }]);
  });

  it("STORE-01: is stored as the picture of its task", async () => {
    vendor.answer(json({ data: [item(plain)] }));
    const { id } = await bench.create({ model: "acme/task", prompt: "A boat" });
    const task = await bench.until(id, "succeeded", "failed");
    expect(task).toMatchObject({ status: "succeeded", cost: "0.01" });
    const file = await fetch(task.output.images[0]!.url);
    expect(Buffer.from(await file.arrayBuffer()).toString("base64")).toBe(plain);
  });
});

it("IMG-28: previews and pictures of a stream are plain base64 too", async () => {
  const b64_json = `data:image/png;base64,${unpadded(plain)}`;
  const events = [
    { type: "image_generation.partial_image", b64_json, partial_image_index: 0 },
    { type: "image_generation.completed", b64_json },
  ];
  vendor.answer(sse(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")));
  const answer = await make({ stream: true, partial_images: 1 });
  const shown = (await answer.text()).matchAll(/"b64_json":"([^"]*)"/g);
  expect([...shown].map(([, base64]) => base64)).toEqual([plain, plain]);
});
