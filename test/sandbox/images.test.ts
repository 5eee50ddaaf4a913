/** Pictures of the openai-like vendor, requested with the vendor's own library: real files of the requested size. */
import { createHash } from "node:crypto";
import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { beforeAll, describe, expect, it } from "vitest";
import { scripted, useSandbox } from "./support.ts";

const sandbox = useSandbox();
let client: OpenAI;
beforeAll(() => {
  client = new OpenAI({ apiKey: "sandbox", baseURL: `${sandbox.url}/openai/v1`, maxRetries: 0 });
});

const model = "image-model-b";
const pictureIn = (item: { b64_json?: string | null } | undefined) =>
  Buffer.from(item!.b64_json!, "base64");
const metadataOf = async (picture: Buffer) => {
  const { format, width, height, hasAlpha } = await sharp(picture).metadata();
  return { format, width, height, hasAlpha };
};

/** A picture without equal neighbouring pixels, and a mask that opens its left half. */
async function sample(width: number, height: number) {
  const pixels = Buffer.from(
    Array.from({ length: width * height * 3 }, (_, at) => (at * 37) % 256),
  );
  const half = Buffer.from(
    Array.from({ length: width * height * 4 }, (_, at) =>
      at % 4 === 3 && (at >> 2) % width < width / 2 ? 0 : 255,
    ),
  );
  const raw = (channels: 3 | 4) => ({ raw: { width, height, channels } });
  return {
    pixels,
    image: await sharp(pixels, raw(3)).png().toBuffer(),
    mask: await sharp(half, raw(4)).png().toBuffer(),
  };
}
const file = (bytes: Buffer, name = "picture.png", type = "image/png") =>
  toFile(bytes, name, { type });
const rawOf = (picture: Buffer) => sharp(picture).removeAlpha().raw().toBuffer();

describe("image generations", () => {
  it("make n different images of the requested size, with usage", async () => {
    const made = await client.images.generate({
      model,
      prompt: "A fox",
      n: 2,
      size: "1536x1024",
      quality: "high",
    });
    expect(made).toMatchObject({
      background: "opaque",
      output_format: "png",
      quality: "high",
      size: "1536x1024",
    });
    const [first, second] = made.data!.map(pictureIn);
    const whole = { format: "png", width: 1536, height: 1024, hasAlpha: false };
    expect([await metadataOf(first!), await metadataOf(second!)]).toEqual([whole, whole]);
    expect(first!.equals(second!)).toBe(false);
    expect(made.usage).toEqual({
      input_tokens: 2,
      output_tokens: 2 * 6208,
      total_tokens: 2 + 2 * 6208,
      input_tokens_details: { text_tokens: 2, image_tokens: 0 },
      output_tokens_details: { text_tokens: 0, image_tokens: 2 * 6208 },
    });
  });

  it("make JPEG and WebP, custom sizes, and real transparency", async () => {
    const generate = async (fields: object) =>
      client.images.generate({ model, prompt: "A fox", ...fields, stream: false });
    const jpeg = await generate({
      output_format: "jpeg",
      output_compression: 0,
      size: "3840x2160",
    });
    const size = { width: 3840, height: 2160, hasAlpha: false };
    expect(await metadataOf(pictureIn(jpeg.data![0]))).toEqual({ format: "jpeg", ...size });
    const clear = await generate({ output_format: "webp", background: "transparent" });
    expect(clear).toMatchObject({ background: "transparent", output_format: "webp" });
    const picture = pictureIn(clear.data![0]);
    expect(await metadataOf(picture)).toMatchObject({
      format: "webp",
      width: 1024,
      hasAlpha: true,
    });
    const { channels } = await sharp(picture).stats();
    expect([channels[3]!.min, channels[3]!.max]).toEqual([0, 255]);
  });

  it("stream partial images and then the completed one", async () => {
    const stream = await client.images.generate({
      model,
      prompt: "A fox",
      size: "1024x1024",
      stream: true,
      partial_images: 2,
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
    const pictures = events.map(pictureIn);
    for (const picture of pictures) {
      expect(await metadataOf(picture)).toMatchObject({ format: "png", width: 1024, height: 1024 });
    }
    expect(new Set(pictures.map((one) => one.toString("base64"))).size).toBe(3);
    expect(events[1]).toMatchObject({ partial_image_index: 1, quality: "medium" });
    expect(events[2]).toMatchObject({ usage: { output_tokens: 1056 + 200 } });
  });

  it("follow a script: usage, revised prompt, blocked, failed, and a stream cut off", async () => {
    const generate = (script: object, fields: object = {}) =>
      client.images.generate({ model, prompt: scripted(script), ...fields, stream: false });
    const reported = await generate({ usage: { input: 10, output: 20 }, reply: "A red fox" });
    expect(reported.usage).toMatchObject({ input_tokens: 10, output_tokens: 20, total_tokens: 30 });
    expect(reported.data![0]!.revised_prompt).toBe("A red fox");
    expect((await generate({ usage: null })).usage).toBeUndefined();
    await expect(generate({ task_outcome: "blocked" })).rejects.toMatchObject({
      status: 400,
      code: "moderation_blocked",
      type: "image_generation_user_error",
    });
    await expect(generate({ task_outcome: "failed" })).rejects.toMatchObject({ status: 500 });
    const prompt = scripted({ cut_after_chunks: 1 });
    const options = { model, prompt, stream: true, partial_images: 2 } as const;
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of await client.images.generate(options)) seen.push(event.type);
    })();
    await expect(reading).rejects.toThrow("terminated");
    expect(seen).toEqual(["image_generation.partial_image"]);
  });
});

describe("image edits", () => {
  it("change every pixel inside the mask and none outside it", async () => {
    const { pixels, image, mask } = await sample(96, 64);
    const edited = await client.images.edit({
      model,
      prompt: "A fox",
      image: await file(image),
      mask: await file(mask),
    });
    expect(edited).toMatchObject({ size: "96x64", background: "opaque" });
    const after = await rawOf(pictureIn(edited.data![0]));
    const wrong: number[] = [];
    for (let at = 0; at < pixels.length; at += 3) {
      const isInside = (at / 3) % 96 < 48;
      const isSame = after.subarray(at, at + 3).equals(pixels.subarray(at, at + 3));
      if (isSame === isInside) wrong.push(at / 3);
    }
    expect(wrong).toEqual([]);
  });

  it("accept several images, count each in the usage, and may have another size", async () => {
    const { image } = await sample(64, 64);
    const jpeg = await sharp(image).jpeg().toBuffer();
    const edit = async (count: number) =>
      client.images.edit({
        model,
        prompt: "A fox",
        size: "1024x1536",
        image: [
          await file(image),
          ...(await Promise.all(
            Array.from({ length: count - 1 }, () => file(jpeg, "other.jpg", "image/jpeg")),
          )),
        ],
      });
    const [one, four] = [await edit(1), await edit(4)];
    expect(await metadataOf(pictureIn(four.data![0]))).toMatchObject({ width: 1024, height: 1536 });
    expect(four.usage!.input_tokens_details.image_tokens).toBe(
      4 * one.usage!.input_tokens_details.image_tokens,
    );
  });

  it("stream their own event types, if the form has `true` and numbers as text", async () => {
    const { image } = await sample(64, 64);
    const stream = await client.images.edit({
      model,
      prompt: "A fox",
      image: await file(image),
      stream: true,
      partial_images: 1,
    });
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    expect(types).toEqual(["image_edit.partial_image", "image_edit.completed"]);
  });

  it("keep a transparent source transparent if the model can, and fill it otherwise", async () => {
    const { mask } = await sample(64, 64);
    const edit = async (name: string) =>
      client.images.edit({ model: name, prompt: "A fox", image: await file(mask) });
    expect((await edit("image-model-b")).background).toBe("transparent");
    const filled = await edit("image-model-a");
    expect(filled.background).toBe("opaque");
    expect(await metadataOf(pictureIn(filled.data![0]))).toMatchObject({ hasAlpha: false });
  });

  it("are in the journal with the form's fields, and each file's name, type, length and hash", async () => {
    const { image, mask } = await sample(64, 64);
    await client.images.edit({
      model,
      prompt: "A fox",
      image: [await file(image), await file(mask, "second.png")],
    });
    const [entry] = sandbox.journal.list({ model });
    const shown = (bytes: Buffer, filename: string) => ({
      filename,
      type: "image/png",
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    expect(entry!.body).toEqual({
      model,
      prompt: "A fox",
      "image[]": [shown(image, "picture.png"), shown(mask, "second.png")],
    });
  });
});
