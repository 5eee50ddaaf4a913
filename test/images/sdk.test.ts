// The official, unchanged openai SDK over real sockets: generate and edit, one file and many, whole and streamed.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fileOf,
  maskOf,
  modelA,
  modelB,
  picture,
  shapeOf,
  startImages,
  type Gw,
  type ImageBench,
} from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench.close());

interface Event {
  readonly type: string;
  readonly b64_json: string;
}

async function eventsOf<Item extends Event>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const events: Item[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("the openai SDK", () => {
  it("IMG-01: images.generate returns the requested pictures", async () => {
    const made = await bench.client.images.generate({
      model: modelA,
      prompt: "A fox",
      n: 2,
      size: "1536x1024",
      quality: "low",
      output_format: "jpeg",
      output_compression: 50,
    });
    expect(made).toMatchObject({ size: "1536x1024", quality: "low", output_format: "jpeg" });
    for (const { b64_json } of made.data!) expect(await shapeOf(b64_json)).toBe("1536x1024 jpeg");
    expect(made.data).toHaveLength(2);
    expect(made.usage!.output_tokens).toBeGreaterThan(0);
  });

  it("EDIT1-01, EDIT1-06, EDIT1-10: images.edit accepts one file with a mask, and several files", async () => {
    const source = await picture("png", { width: 128, height: 96 });
    const one = await bench.client.images.edit({
      model: modelA,
      prompt: "A fox",
      image: await fileOf(source),
      mask: await fileOf(await maskOf(128, 96), "mask.png"),
    });
    const [raw, edited] = await Promise.all(
      [source, Buffer.from(one.data![0]!.b64_json!, "base64")].map((bytes) =>
        sharp(bytes).removeAlpha().raw().toBuffer(),
      ),
    );
    const isSame = (pixel: number) =>
      raw!.subarray(pixel * 3, pixel * 3 + 3).equals(edited!.subarray(pixel * 3, pixel * 3 + 3));
    for (const pixel of [0, 63, 128 * 50, 128 * 95 + 63]) expect(isSame(pixel)).toBe(false);
    for (const pixel of [64, 127, 128 * 50 + 64, 128 * 96 - 1]) expect(isSame(pixel)).toBe(true);
    const many = await bench.client.images.edit({
      model: modelA,
      prompt: "A fox",
      image: [
        await fileOf(source),
        await fileOf(await picture("jpeg"), "b.jpg", "image/jpeg"),
        await fileOf(await picture("webp"), "c.webp", "image/webp"),
      ],
    });
    expect(await shapeOf(many.data![0]!.b64_json)).toBe("128x96 png");
    expect(many.usage!.input_tokens).toBeGreaterThan(one.usage!.input_tokens);
  });

  it("EDIT2-31, EDIT2-33: images.edit of the second form keeps what the gateway adds", async () => {
    const made = await bench.client.images.edit({
      model: modelB,
      prompt: "A fox",
      image: await fileOf(await picture()),
      output_format: "webp",
    });
    expect(await shapeOf(made.data![0]!.b64_json)).toBe("64x48 webp");
    const { gw } = made as unknown as { gw: Gw };
    expect(gw.images).toHaveLength(1);
  });

  it("IMG-28: images.generate yields the events of a stream", async () => {
    const events = await eventsOf(
      await bench.client.images.generate({
        model: modelA,
        prompt: "A fox",
        stream: true,
        partial_images: 3,
        size: "1024x1024",
      }),
    );
    expect(events.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 3 }, () => "image_generation.partial_image"),
      "image_generation.completed",
    ]);
    for (const { b64_json } of events) expect(await shapeOf(b64_json)).toBe("1024x1024 png");
    const [first] = events;
    expect(first).toMatchObject({ partial_image_index: 0, size: "1024x1024", quality: "medium" });
    const last = events.at(-1)!;
    expect(last.type === "image_generation.completed" && last.usage.total_tokens).toBeGreaterThan(
      0,
    );
  });

  it("STREAM-08, EDIT2-26, EDIT2-27: images.edit yields the events of a stream, for one file and for several", async () => {
    const files = [
      await fileOf(await picture()),
      await fileOf(await picture("jpeg"), "b.jpg", "image/jpeg"),
    ];
    for (const image of [files[0]!, files]) {
      const stream = await bench.client.images.edit({
        model: modelB,
        prompt: "A fox",
        image,
        stream: true,
        partial_images: 2,
      });
      const events = await eventsOf(stream);
      expect(events.map(({ type }) => type)).toEqual([
        "image_edit.partial_image",
        "image_edit.partial_image",
        "image_edit.completed",
      ]);
      for (const { b64_json } of events) expect(await shapeOf(b64_json)).toBe("64x48 png");
      expect((events.at(-1) as unknown as { gw: Gw }).gw.images).toHaveLength(1);
    }
  });

  it("errors carry code and param", async () => {
    const failing = bench.client.images.generate({ model: modelA, prompt: "A fox", n: 99 });
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: "integer_above_max_value",
      param: "n",
    });
  });
});
