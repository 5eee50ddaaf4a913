// DashScope models that make pictures from a prompt only, with a separate API: qwen-image, and wan before 2.6. Wire format:
// docs.qwencloud.com, "Async image generation". And wan2.6-image, which makes them only in its mode of texts with pictures.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startSandbox } from "../../sandbox/index.ts";
import { plain, shapesOf, startImages, type ImageBench } from "./support.ts";

const older = ["qwen-image", "qwen-image-plus", "wan2.5-t2i-preview", "wanx2.0-t2i-turbo"];
const models = [...older, "wan2.6-image"];
const service = "/dashscope/api/v1/services/aigc/text2image/image-synthesis";

let sandbox: Awaited<ReturnType<typeof startSandbox>>;
let bench: ImageBench;
beforeAll(async () => {
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0 });
  const offers = models.map(
    (name) => `
  - id: acme/${name}
    kind: image
    family: image-c
    offers: [{ provider: alibaba, upstream_model: ${name}, price: { output_image: "0.04" } }]`,
  );
  bench = await startImages({
    config: `
providers:
  - { id: alibaba, dialect: dashscope, base_url: "${sandbox.url}/dashscope/api/v1", api_key: sandbox }
models:${offers.join("")}
`,
  });
  await bench.credit("10");
});
afterAll(async () => {
  await bench?.close();
  await sandbox?.close();
});

interface Sent {
  readonly path: string;
  readonly body: { readonly input: object; readonly parameters: object };
}
async function sentWith(text: string): Promise<Sent> {
  const url = `${sandbox.url}/__journal?contains=${encodeURIComponent(text)}`;
  const { data } = (await (await fetch(url)).json()) as { data: Sent[] };
  return data[0]!;
}

it.each(older)(
  "BILL-09 STORE-01: %s makes the requested pictures, and they are charged",
  async (name) => {
    const prompt = `A fox for ${name}`;
    const fields = { n: 2, size: "1328x1328", seed: 7, prompt_extend: false };
    const { id } = await bench.create({
      model: `acme/${name}`,
      prompt,
      negative_prompt: "blur",
      ...fields,
    });
    const task = await bench.until(id, "succeeded", "failed");
    expect(task).toMatchObject({ status: "succeeded", cost: "0.08" });
    expect("notes" in task).toBe(false);
    expect(await shapesOf(task)).toEqual(["1328x1328 png", "1328x1328 png"]);
    const { path, body } = await sentWith(prompt);
    const negative = { negative_prompt: "blur" };
    const isQwen = name.startsWith("qwen");
    expect(path).toBe(service);
    expect(body.input).toEqual({ prompt, ...(isQwen ? {} : negative) });
    expect(body.parameters).toEqual({
      ...fields,
      size: "1328*1328",
      watermark: false,
      ...(isQwen ? negative : {}),
    });
  },
);

it.each([
  ["without a ratio", "qwen-image", {}, "1328*1328"],
  ["for a ratio", "qwen-image-plus", { aspect_ratio: "16:9" }, "1664*928"],
  ["for a tier that it does not make", "qwen-image", { image_size: "2K" }, "2048*2048"],
  ["in pixels", "qwen-image", { size: "1024x1024" }, "1024*1024"],
  ["of other models", "wan2.5-t2i-preview", { aspect_ratio: "16:9" }, "1280*720"],
] as const)(
  "qwen-image gets a size that it takes: %s, %s %j as %s",
  async (what, name, fields, size) => {
    const prompt = `A wolf ${what}`;
    const { id } = await bench.create({ model: `acme/${name}`, prompt, ...fields });
    const task = await bench.until(id, "succeeded", "failed");
    expect(task).toMatchObject({ status: "succeeded", cost: "0.04" });
    expect("notes" in task).toBe(false);
    expect((await sentWith(prompt)).body.parameters).toMatchObject({ size });
  },
);

it("a picture to edit is not dropped: the vendor refuses it, and nothing is charged", async () => {
  const form = new FormData();
  form.append("model", "acme/qwen-image");
  form.append("prompt", "A wolf");
  form.append("image", new Blob([new Uint8Array(await plain())]), "a.png");
  const answer = await bench.send("POST", "/v1/tasks", { body: form });
  const { id } = (await answer.json()) as { id: string };
  const task = await bench.until(id, "succeeded", "failed");
  expect(task).toMatchObject({
    status: "failed",
    cost: "0",
    error: { code: "invalid_argument", message: expect.stringContaining("url error") as string },
  });
});

it("BILL-09: wan2.6-image makes pictures without one to edit, and what has no effect then is noted", async () => {
  const prompt = "A bear in two pictures";
  const fields = { n: 2, aspect_ratio: "16:9", negative_prompt: "blur", seed: 7 };
  const more = { prompt_extend: true };
  const { id } = await bench.create({ model: "acme/wan2.6-image", prompt, ...fields, ...more });
  const task = await bench.until(id, "succeeded", "failed");
  expect(task).toMatchObject({ status: "succeeded", cost: "0.08" });
  expect(task["notes"]).toEqual(["prompt_extend: no effect without a picture, ignored"]);
  expect(await shapesOf(task)).toEqual(["1280x720 png", "1280x720 png"]);
  expect((await sentWith(prompt)).body.parameters).toEqual({
    enable_interleave: true,
    max_images: 2,
    size: "1280*720",
    negative_prompt: "blur",
    watermark: false,
    seed: 7,
  });
});
