/** The requests to image vendors, byte for byte, and fields that vendors do not support. */
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ImageRequest, Upload } from "../../src/media/index.ts";
import { droppedFieldNotes, type MediaAsk } from "../../src/upstream/index.ts";
import { bodyOf, dialectOf, image, providers, submitAsk, uploadsOf } from "./media-support.ts";

type Vendor = "openai" | "xai" | "dashscope";

const [fox, wolf] = uploadsOf("fox picture", "wolf!") as [Upload, Upload];
const [mask] = uploadsOf("mask bytes") as [Upload];

const dataUrl = ({ name, mediaType }: Upload) =>
  `data:${mediaType};base64,${Buffer.from(name).toString("base64")}`;

const everything: Partial<ImageRequest> = {
  n: 2,
  size: "1536x1024",
  quality: "high",
  background: "opaque",
  outputFormat: "jpeg",
  outputCompression: 80,
  moderation: "low",
  user: "u1",
};

const bodies: readonly [
  title: string,
  vendor: Vendor,
  fields: Partial<ImageRequest>,
  path: string,
  body: object,
][] = [
  [
    "openai: a generation",
    "openai",
    everything,
    "/v1/images/generations",
    {
      model: "m",
      prompt: "A fox",
      n: 2,
      size: "1536x1024",
      quality: "high",
      background: "opaque",
      output_format: "jpeg",
      output_compression: 80,
      moderation: "low",
      user: "u1",
    },
  ],
  [
    "openai: a streamed generation, without compression where the format has none",
    "openai",
    { stream: true, partialImages: 2, outputFormat: "png", outputCompression: 100 },
    "/v1/images/generations",
    { model: "m", prompt: "A fox", n: 1, output_format: "png", stream: true, partial_images: 2 },
  ],
  [
    "xai: a generation, tier and quality always said",
    "xai",
    { aspectRatio: "19.5:9" },
    "/v1/images/generations",
    {
      model: "m",
      prompt: "A fox",
      n: 1,
      aspect_ratio: "19.5:9",
      resolution: "1k",
      quality: "low",
      response_format: "b64_json",
    },
  ],
  [
    "xai: an edit of one picture, auto quality as low",
    "xai",
    { n: 3, imageSize: "2K", quality: "auto", user: "u1", images: [fox] },
    "/v1/images/edits",
    {
      model: "m",
      prompt: "A fox",
      n: 3,
      resolution: "2k",
      quality: "low",
      response_format: "b64_json",
      user: "u1",
      image: { url: dataUrl(fox), type: "image_url" },
    },
  ],
  [
    "xai: an edit of several pictures, a quality it will refuse",
    "xai",
    { imageSize: "1K", quality: "high", images: [fox, wolf] },
    "/v1/images/edits",
    {
      model: "m",
      prompt: "A fox",
      n: 1,
      resolution: "1k",
      quality: "high",
      response_format: "b64_json",
      images: [
        { url: dataUrl(fox), type: "image_url" },
        { url: dataUrl(wolf), type: "image_url" },
      ],
    },
  ],
  [
    "dashscope: a generation",
    "dashscope",
    {
      n: 4,
      size: "1328x1328",
      negativePrompt: "blur",
      promptExtend: true,
      watermark: false,
      seed: 5,
    },
    "/api/v1/services/aigc/image-generation/generation",
    {
      model: "m",
      input: { messages: [{ role: "user", content: [{ text: "A fox" }] }] },
      parameters: {
        n: 4,
        size: "1328*1328",
        negative_prompt: "blur",
        prompt_extend: true,
        watermark: false,
        seed: 5,
      },
    },
  ],
  [
    "dashscope: an edit, at a tier",
    "dashscope",
    { imageSize: "2K", images: [fox, wolf] },
    "/api/v1/services/aigc/image-generation/generation",
    {
      model: "m",
      input: {
        messages: [
          {
            role: "user",
            content: [{ image: dataUrl(fox) }, { image: dataUrl(wolf) }, { text: "A fox" }],
          },
        ],
      },
      parameters: { n: 1, size: "2K" },
    },
  ],
  [
    "dashscope: a ratio becomes pixels of its tier",
    "dashscope",
    { aspectRatio: "16:9", imageSize: "1K", size: "auto" },
    "/api/v1/services/aigc/image-generation/generation",
    {
      model: "m",
      input: { messages: [{ role: "user", content: [{ text: "A fox" }] }] },
      parameters: { n: 1, size: "1360*768" },
    },
  ],
];

describe("an image request", () => {
  it.each(bodies)(
    "has the expected path, body and headers: %s",
    async (...[, vendor, fields, path, body]) => {
      const ask = submitAsk(vendor, image(fields), "m");
      expect(ask).toMatchObject({ method: "POST", path });
      expect(await bodyOf(ask)).toBe(JSON.stringify(body));
      expect(ask.headers["content-type"]).toBe("application/json");
      expect(ask.headers["accept"]).toBe(fields.stream ? "text/event-stream" : "application/json");
      expect(ask.headers["authorization"]).toBe("Bearer secret");
    },
  );

  it("is sent to DashScope as an asynchronous task", () => {
    expect(submitAsk("dashscope", image(), "m").headers["x-dashscope-async"]).toBe("enable");
  });
});

/** The parts of a form: head without its boundary, and content. */
async function partsOf(ask: MediaAsk): Promise<string[]> {
  const boundary = /^multipart\/form-data; boundary=(tollgate-[0-9a-f]{48})$/.exec(
    ask.headers["content-type"]!,
  )![1]!;
  const body = await bodyOf(ask);
  expect(body.endsWith(`\r\n--${boundary}--\r\n`)).toBe(true);
  return body
    .slice(0, -`--${boundary}--\r\n`.length)
    .split(`--${boundary}\r\n`)
    .slice(1)
    .map((part) => part.replace("Content-Disposition: form-data; ", "").replace(/\r\n$/, ""));
}

describe("the size auto", () => {
  const sent = async (
    name: "openai" | "openai-compatible",
    fields: Partial<ImageRequest>,
    model = "Qwen/Qwen-Image",
  ) => bodyOf(submitAsk(name, image({ size: "auto", ...fields }), model));

  it("is no size in generations of servers that load models, where vLLM-Omni refuses the word", async () => {
    expect(await sent("openai-compatible", {})).not.toContain("size");
    expect(await sent("openai-compatible", { size: "512x512" })).toContain('"size":"512x512"');
    expect(await sent("openai-compatible", {}, "gpt-image-2")).toContain('"size":"auto"');
    expect(await sent("openai", {})).toContain('"size":"auto"');
  });

  it("stays in edits, where it means the size of the picture", async () => {
    const body = await sent("openai-compatible", { images: [fox] });
    expect(body).toContain('name="size"\r\n\r\nauto');
  });
});

describe("an edit at OpenAI", () => {
  it("is a form with every field, and files with name and type", async () => {
    const request = image({ ...everything, images: [fox], mask, inputFidelity: "high" });
    const ask = submitAsk("openai", request, "gpt-image-1");
    expect(ask).toMatchObject({ method: "POST", path: "/v1/images/edits" });
    expect(await partsOf(ask)).toEqual([
      'name="model"\r\n\r\ngpt-image-1',
      'name="prompt"\r\n\r\nA fox',
      'name="image"; filename="image-1.png"\r\nContent-Type: image/png\r\n\r\nfox picture',
      'name="mask"; filename="mask.png"\r\nContent-Type: image/png\r\n\r\nmask bytes',
      'name="n"\r\n\r\n2',
      'name="size"\r\n\r\n1536x1024',
      'name="quality"\r\n\r\nhigh',
      'name="background"\r\n\r\nopaque',
      'name="output_format"\r\n\r\njpeg',
      'name="output_compression"\r\n\r\n80',
      'name="input_fidelity"\r\n\r\nhigh',
      'name="moderation"\r\n\r\nlow',
      'name="user"\r\n\r\nu1',
    ]);
  });

  it("names several pictures image[], in order, and streams if asked", async () => {
    const jpeg = { ...wolf, mediaType: "image/jpeg" } as const;
    const request = image({ images: [fox, jpeg], stream: true, partialImages: 1 });
    const ask = submitAsk("openai", request, "gpt-image-2");
    expect(ask.headers["accept"]).toBe("text/event-stream");
    expect((await partsOf(ask)).slice(2)).toEqual([
      'name="image[]"; filename="image-1.png"\r\nContent-Type: image/png\r\n\r\nfox picture',
      'name="image[]"; filename="image-2.jpg"\r\nContent-Type: image/jpeg\r\n\r\nwolf!',
      'name="n"\r\n\r\n1',
      'name="stream"\r\n\r\ntrue',
      'name="partial_images"\r\n\r\n1',
    ]);
  });

  it("has a new boundary each time, so that no prompt can contain it", () => {
    const request = image({ images: [fox] });
    const types = [1, 2].map(() => submitAsk("openai", request, "m").headers["content-type"]);
    expect(new Set(types).size).toBe(2);
  });
});

describe("a picture in a request body", () => {
  it("is written as JSON.stringify would write it, for any chunks of its file", async () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.string(), async (cuts, prompt) => {
        const whole = Buffer.concat(cuts);
        const upload: Upload = { ...fox, bytes: whole.length };
        const ask = dialectOf("dashscope", "image").submit(providers.dashscope, "k", {
          request: image({ prompt, images: [upload] }),
          upstreamModel: "m",
          open: () => Readable.from(cuts.map((cut) => Buffer.from(cut))),
        });
        const { input } = JSON.parse(await bodyOf(ask)) as { input: { messages: object[] } };
        expect(input.messages).toEqual([
          {
            role: "user",
            content: [
              { image: `data:image/png;base64,${whole.toString("base64")}` },
              { text: prompt },
            ],
          },
        ]);
      }),
      { numRuns: 200 },
    );
  });

  it("is opened only when it is sent, and again for each attempt", async () => {
    let opened = 0;
    const ask = dialectOf("xai", "image").submit(providers.xai, "k", {
      request: image({ images: [fox] }),
      upstreamModel: "m",
      open: (upload) => {
        opened += 1;
        return Readable.from([Buffer.from(upload.name)]);
      },
    });
    expect(opened).toBe(0);
    expect(await bodyOf(ask)).toBe(await bodyOf(ask));
    expect(opened).toBe(2);
  });
});

/** A value for each optional field, to see its effect in the body. */
const changes: Readonly<Record<string, Partial<ImageRequest>>> = {
  prompt: { prompt: "A wolf" },
  n: { n: 2 },
  size: { size: "1024x1536" },
  aspect_ratio: { aspectRatio: "9:16" },
  image_size: { imageSize: "2K" },
  quality: { quality: "medium" },
  background: { background: "transparent" },
  output_format: { outputFormat: "webp" },
  output_compression: { outputCompression: 50 },
  input_fidelity: { inputFidelity: "high" },
  mask: { mask },
  moderation: { moderation: "low" },
  user: { user: "u2" },
  negative_prompt: { negativePrompt: "blur" },
  prompt_extend: { promptExtend: false },
  seed: { seed: 11 },
  watermark: { watermark: true },
};

const models: readonly [Vendor, string, Partial<ImageRequest>][] = [
  ["openai", "gpt-image-1", {}],
  ["openai", "gpt-image-1", { images: [fox] }],
  ["openai", "gpt-image-1-mini", { images: [fox] }],
  ["openai", "gpt-image-2", { images: [fox], outputFormat: "jpeg" }],
  ["xai", "grok-imagine-image-2.0", { images: [fox] }],
  ["dashscope", "wan2.6-image", { images: [fox] }],
  ["dashscope", "wan2.6-image", {}],
  ["dashscope", "qwen-image", {}],
  ["dashscope", "wan2.5-t2i-preview", {}],
];

describe("a field that an image vendor does not support", () => {
  const stable = async (vendor: Vendor, request: ImageRequest, model: string) => {
    const ask = submitAsk(vendor, request, model);
    return (await bodyOf(ask)).replaceAll(/tollgate-[0-9a-f]{48}/g, "");
  };

  it.each(models)(
    "is noted before the call, and no other field is: %s %s %j",
    async (vendor, model, fields) => {
      const base = image(fields);
      const before = await stable(vendor, base, model);
      for (const [name, change] of Object.entries(changes)) {
        const request = { ...base, ...change };
        const changed = (await stable(vendor, request, model)) !== before;
        const noted = droppedFieldNotes(vendor, request, model).some(({ param }) => param === name);
        expect({ name, noted }).toEqual({ name, noted: !changed });
      }
    },
  );

  it.each([
    ["gpt-image-1.5", true],
    ["gpt-image-1-mini", false],
    ["gpt-image-2.6-flare", false],
    ["openai/gpt-image-2", false],
  ])("input_fidelity of %s is sent: %s", async (model, isSent) => {
    const request = image({ images: [fox], inputFidelity: "high" });
    expect((await stable("openai", request, model)).includes("input_fidelity")).toBe(isSent);
  });

  it("is not noted if its value is the default", () => {
    const usual = image({ size: "auto", quality: "auto", background: "auto", moderation: "auto" });
    for (const vendor of ["openai", "xai", "dashscope"] as const) {
      expect(droppedFieldNotes(vendor, usual, "m")).toEqual([]);
    }
    expect(
      droppedFieldNotes("openai", image({ outputFormat: "png", outputCompression: 100 }), "m"),
    ).toEqual([]);
  });
});
