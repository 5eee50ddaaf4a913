// Specifics of the image task model with three sizes; form-2.test.ts has the fields of edit form 2.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { padded } from "../task-http/upload-support.ts";
import {
  plain,
  shapesOf,
  startImages,
  type Fields,
  type ImageBench,
  type Options,
} from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench?.close());

const model = "sandbox/task-image-model-2";
const run = (fields: Fields, options?: Options) => bench.run({ model, ...fields }, options);
const refusal = (fields: Fields, options?: Options) => bench.refusal({ model, ...fields }, options);

describe("reference pictures", () => {
  it.each(["image", "image[]"])("TIMG2-03: sent as %s make an edit", async (name) => {
    const { task, sent } = await run(
      { prompt: `As ${name}` },
      { files: { [name]: await plain() } },
    );
    expect(sent.path).toBe("/openai/v1/images/edits");
    expect(sent.body["image"]).toMatchObject({ type: "image/png", filename: "image-1.png" });
    expect(task.status).toBe("succeeded");
  });

  it("TIMG2-03 LIM-04: are accepted up to sixteen, and reach the vendor in order", async () => {
    const files = await Promise.all(
      Array.from({ length: 16 }, (_, at) => plain({ width: 20 + at, format: "jpeg" })),
    );
    const { task, sent } = await run({ quality: "low" }, { files: { "image[]": files } });
    expect(task.status).toBe("succeeded");
    expect(sent.body["image[]"]).toMatchObject(files.map(({ length }) => ({ bytes: length })));
    expect(await refusal({}, { files: { image: [...files, files[0]!] } })).toBe(
      "too_many_images image",
    );
  });

  it("TIMG2-04 LIM-04: are accepted up to 25 MB, and refused with one byte more", async () => {
    const file = await plain({ format: "jpeg" });
    const { task, sent } = await run({}, { files: { image: padded(file, 25_000_000) } });
    expect(sent.body["image"]).toMatchObject({ bytes: 25_000_000 });
    expect(task.status).toBe("succeeded");
    expect(await refusal({}, { files: { image: padded(file, 25_000_001) } })).toBe(
      "image_too_large image",
    );
  });

  it("TASK-04: are refused as addresses, in JSON and in a form", async () => {
    for (const form of [false, true])
      for (const name of ["image", "image[]"])
        expect(await refusal({ [name]: "https://example.com/a.png" }, { form })).toBe(
          `image_url_not_supported ${name}`,
        );
  });
});

describe("an invalid picture", () => {
  it.each([
    ["a text with a picture's name", () => Promise.resolve(Buffer.from("not a picture at all"))],
    [
      "a GIF",
      () =>
        sharp(Buffer.alloc(12), { raw: { width: 2, height: 2, channels: 3 } })
          .gif()
          .toBuffer(),
    ],
    ["an empty file", () => Promise.resolve(Buffer.alloc(0))],
  ] as const)("%s is refused by its content", async (_what, file) => {
    expect(await refusal({}, { files: { image: await file() } })).toBe("invalid_image_file image");
  });

  it("is refused without decoding if it would unpack to gigabytes", async () => {
    const bomb = await plain();
    // Width and height are at the start of a PNG.
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    expect(await refusal({}, { files: { image: bomb } })).toBe("image_too_large image");
  });

  it("with a valid header is refused by the vendor, and costs nothing", async () => {
    const before = await bench.available();
    const broken = (await plain({ width: 300, height: 300 })).subarray(0, 120);
    const { task } = await run({}, { files: { image: broken } });
    expect(task).toMatchObject({
      status: "failed",
      cost: "0",
      error: { code: "invalid_argument" },
    });
    expect(await bench.available()).toBe(before);
  });
});

describe("a field that depends on the kind of call", () => {
  const withPicture = async () => ({ files: { image: await plain() } });

  it.each(["high", "low"])("TIMG2-25: input_fidelity %s reaches an edit", async (fidelity) => {
    const { task, sent } = await run({ input_fidelity: fidelity }, await withPicture());
    expect(sent.body).toMatchObject({ input_fidelity: fidelity });
    expect("notes" in task).toBe(false);
  });

  it("TIMG2-25 TIMG2-26: input_fidelity is low by default in an edit; a generation is sent none, with a note if the caller set it", async () => {
    expect((await run({}, await withPicture())).sent.body).toMatchObject({ input_fidelity: "low" });
    const left = await run({});
    expect([left.sent.body["input_fidelity"], left.task.notes]).toEqual([undefined, undefined]);
    const asked = await run({ input_fidelity: "high" });
    expect(asked.sent.body).not.toHaveProperty("input_fidelity");
    expect(asked.task.notes).toEqual([expect.stringMatching(/^input_fidelity: /)]);
    expect(await refusal({ input_fidelity: "mid" })).toBe("invalid_value input_fidelity");
  });

  it.each(["auto", "low"])("TIMG2-29: moderation %s reaches a generation", async (moderation) => {
    const { task, sent } = await run({ moderation });
    expect(sent.body).toMatchObject({ moderation });
    expect("notes" in task).toBe(false);
  });

  it("TIMG2-30 ERR-13: moderation is dropped with a note in an edit; an invalid value is refused", async () => {
    const { task, sent } = await run({ moderation: "low" }, await withPicture());
    expect(sent.body).not.toHaveProperty("moderation");
    expect(task.notes).toEqual([expect.stringMatching(/^moderation: .*dropped/)]);
    expect(await refusal({ moderation: "high" })).toBe("invalid_value moderation");
  });
});

describe("the size of a picture", () => {
  it.each([
    ["TIMG2-17", { image_size: "2K", aspect_ratio: "2:3" }, "1024x1536", ["image_size"]],
    ["TIMG2-17", { image_size: "4K", aspect_ratio: "3:2" }, "1536x1024", ["image_size"]],
    ["TIMG2-17", { image_size: "4K" }, "1024x1024", ["image_size"]],
    ["TIMG2-18", { aspect_ratio: "16:9" }, "auto", ["aspect_ratio"]],
    ["TIMG2-18", { aspect_ratio: "16:9", image_size: "1K" }, "1024x1024", ["aspect_ratio"]],
  ] satisfies [string, Fields, string, string[]][])(
    "%s: %j is made as %s with a note",
    async (_ids, fields, size, notes) => {
      const { task, sent } = await run({ quality: "low", ...fields });
      expect(sent.body).toMatchObject({ size });
      expect(task.notes!.map((note) => note.split(":")[0])).toEqual(notes);
      const made = size === "auto" ? "1024x1024" : size;
      expect(await shapesOf(task)).toEqual([`${made} png`]);
    },
  );

  it("TIMG2-17: a lowered tier costs what the lower tier costs", async () => {
    const prompt = "The same words each time";
    const costs: string[] = [];
    for (const fields of [{ image_size: "1K" }, { image_size: "4K" }, { size: "1024x1024" }])
      costs.push((await run({ prompt, quality: "high", ...fields })).task.cost);
    expect(new Set(costs).size).toBe(1);
    expect(Number(costs[0])).toBeGreaterThan(0);
  });

  it("TIMG2-13: another size is passed on and refused by the vendor, and then costs nothing", async () => {
    const before = await bench.available();
    const { task, sent } = await run({ size: "512x512" });
    expect(sent.body).toMatchObject({ size: "512x512" });
    expect(task).toMatchObject({
      status: "failed",
      cost: "0",
      error: { code: "invalid_argument" },
    });
    expect(task.error!.message).toContain("Invalid value: '512x512'");
    expect(await bench.available()).toBe(before);
  });
});
