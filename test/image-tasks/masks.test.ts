// Edits of tasks with a mask: requirements of the mask, its bytes at the vendor, and that only the masked area changes.
import { createHash } from "node:crypto";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { padded, picture } from "../task-http/upload-support.ts";
import {
  maskOf,
  picturesOf,
  plain,
  startImages,
  type Fields,
  type Files,
  type ImageBench,
} from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench?.close());

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const pixelsOf = (bytes: Buffer) => sharp(bytes).removeAlpha().raw().toBuffer();

describe.each(["sandbox/task-image-model-2", "sandbox/image-model-b"])("%s", (model) => {
  const run = (files: Files, fields: Fields = {}) => bench.run({ model, ...fields }, { files });
  const refusal = (files: Files, fields: Fields = {}) =>
    bench.refusal({ model, ...fields }, { files });

  it("TIMG2-05 TIMG2-06: picture and mask reach the vendor unchanged, and the picture changes only where the mask is transparent", async () => {
    const [width, height] = [1024, 1024];
    const image = await picture("png", { width, height });
    const mask = await maskOf(width, height);
    const { task, sent } = await run({ image, mask }, { size: "1024x1024" });
    expect(sent.body).toMatchObject({
      image: { type: "image/png", sha256: sha256(image) },
      mask: { type: "image/png", sha256: sha256(mask) },
    });
    expect("notes" in task).toBe(false);
    const [made] = await picturesOf(task);
    expect([made!.format, made!.size]).toEqual(["png", "1024x1024"]);
    const [before, after] = await Promise.all([pixelsOf(image), pixelsOf(made!.bytes)]);
    const same = { left: 0, right: 0 };
    for (let at = 0; at < before.length; at += 3) {
      const side = (at / 3) % width < width / 2 ? "left" : "right";
      if (before.compare(after, at, at + 3, at, at + 3) === 0) same[side] += 1;
    }
    expect(same).toEqual({ left: 0, right: (width * height) / 2 });
  });

  it("TIMG2-08: the mask applies to the first picture; other pictures may have any size", async () => {
    const [first, second] = [await plain(), await plain({ width: 30, height: 90, format: "webp" })];
    const mask = await maskOf(64, 48);
    const { task, sent } = await run({ "image[]": [first, second], mask });
    expect(task.status).toBe("succeeded");
    expect(sent.body["image[]"]).toMatchObject([
      { sha256: sha256(first) },
      { sha256: sha256(second) },
    ]);
    expect(await refusal({ "image[]": [second, first], mask })).toBe("invalid_image_file mask");
  });

  it("TIMG2-09: a mask without a picture is ignored with a note, and a new picture is generated", async () => {
    const { task, sent } = await run({ mask: await maskOf(64, 48) });
    expect(task.notes).toEqual([expect.stringMatching(/^mask: .*ignored/)]);
    expect(sent.path).toBe("/openai/v1/images/generations");
    expect(sent.body).not.toHaveProperty("mask");
    expect(await picturesOf(task)).toHaveLength(1);
  });

  it("TIMG2-07 LIM-05: a mask of one byte below 4 MB is accepted, and one of 4 MB is refused", async () => {
    const [image, mask] = [await plain(), await maskOf(64, 48)];
    const { task } = await run({ image, mask: padded(mask, 3_999_999) });
    expect(task.status).toBe("succeeded");
    expect(await refusal({ image, mask: padded(mask, 4_000_000) })).toBe("image_too_large mask");
  });

  it.each([
    ["not a PNG", () => picture("webp", { width: 64, height: 48, alpha: true })],
    ["no alpha", () => plain()],
    ["another width", () => maskOf(66, 48)],
    ["another height", () => maskOf(64, 49)],
    ["not a picture", () => Promise.resolve(Buffer.from("a mask"))],
  ] as const)('TIMG2-07 LIM-05: a mask with the fault "%s" is refused', async (_what, mask) => {
    const files = { image: await plain(), mask: await mask() };
    expect(await refusal(files)).toBe("invalid_image_file mask");
  });

  it.each(["https://example.com/mask.png", "data:image/png;base64,AAAA", "mask"])(
    "TIMG2-05: the text %s is refused as a mask, with and without a picture",
    async (mask) => {
      const image = await plain();
      expect(await refusal({ image }, { mask })).toBe("image_url_not_supported mask");
      expect(await bench.refusal({ model, mask })).toBe("image_url_not_supported mask");
    },
  );

  it("two masks are refused", async () => {
    const mask = await maskOf(64, 48);
    expect(await refusal({ image: await plain(), mask: [mask, mask] })).toBe("invalid_value mask");
  });
});
