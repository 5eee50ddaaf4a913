// Form 2 of `POST /v1/images/edits`: sizes by ratio and tier, transparency, masks, and the gateway's additions to the answer.
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortOrLong } from "../support/long.ts";
import {
  maskOf,
  modelB,
  padded,
  picture,
  prompted,
  sha256,
  shapeOf,
  startImages,
  type Bytes,
  type Fields,
  type Files,
  type ImageBench,
} from "./support.ts";

let bench: ImageBench;
let image: Bytes;
beforeAll(async () => {
  bench = await startImages({ tasks: { timing: { firstPollMs: 30 } } });
  image = await picture();
});
afterAll(() => bench.close());

const run = (fields: Fields = {}, files: Files = { image }, script?: object) =>
  bench.runCall((prompt) => bench.edit({ model: modelB, prompt, ...fields }, files), script);
const refused = (fields: Fields, files: Files = { image }) =>
  bench.refusal((prompt) => bench.edit({ model: modelB, prompt, ...fields }, files));
const filesAt = ({ body }: { body: Fields }, name: string) =>
  [body[name]].flat() as { type: string; bytes: number; sha256: string }[];
const rawOf = (base64: string) =>
  sharp(Buffer.from(base64, "base64")).removeAlpha().raw().toBuffer();

describe("the second edit form", () => {
  it("EDIT2-02, EDIT2-03: requires a prompt and an image, as image or image[]", async () => {
    expect(await refused({ prompt: undefined })).toBe("missing_required_parameter prompt");
    expect(await refused({}, {})).toBe("missing_required_parameter image");
    const one = await run({}, { "image[]": image });
    expect(filesAt(one.sent, "image")[0]!.sha256).toBe(sha256(image));
    expect(filesAt((await run()).sent, "image")[0]!.sha256).toBe(sha256(image));
  });

  it("EDIT2-04, EDIT2-05, LIM-04: may have up to sixteen images of 25 MB", async () => {
    const files = Array.from({ length: 16 }, () => image);
    expect(filesAt((await run({}, { "image[]": files })).sent, "image[]")).toHaveLength(16);
    expect(await refused({}, { "image[]": [...files, image] })).toBe("too_many_images image");
    const largest = await run({}, { image: padded(image, 25_000_000) });
    expect(filesAt(largest.sent, "image")[0]!.bytes).toBe(25_000_000);
    expect(await refused({}, { image: padded(image, 25_000_001) })).toBe("image_too_large image");
  });

  it("EDIT2-10: is refused with a mask but no image", async () => {
    expect(await refused({}, { mask: await maskOf() })).toBe("missing_required_parameter image");
  });

  it("EDIT2-38: is refused with a malformed body, and leaves no file", async () => {
    const post = (body: string, type = "multipart/form-data; boundary=xyz") =>
      fetch(`${bench.url}/v1/images/edits`, {
        method: "POST",
        headers: { authorization: `Bearer ${bench.key}`, "content-type": type },
        body,
      });
    const cut = '--xyz\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nfox';
    expect((await post(cut)).status).toBe(400);
    expect((await post("nothing at all")).status).toBe(400);
    expect((await post(cut, "multipart/form-data")).status).toBe(400);
    expect((await bench.state()).files.filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("EDIT2-39, ERR-07: is refused with an address instead of a file", async () => {
    const url = "https://example.com/a.png";
    expect(await refused({ image: url }, {})).toBe("image_url_not_supported image");
    expect(await refused({ "image[]": url })).toBe("image_url_not_supported image[]");
    expect(await refused({ mask: url })).toBe("image_url_not_supported mask");
  });
});

describe("a mask", () => {
  it("EDIT2-06, EDIT2-07, EDIT2-08, LIM-05: must be a PNG with alpha, of the image's size and below 4 MB", async () => {
    const mask = await maskOf();
    expect(filesAt((await run({}, { image, mask })).sent, "mask")[0]!.sha256).toBe(sha256(mask));
    const cases = [
      [image, "invalid_image_file"],
      [await picture("jpeg"), "invalid_image_file"],
      [await maskOf(32, 48), "invalid_image_file"],
      [padded(mask, 4_000_000), "image_too_large"],
    ] as const;
    for (const [wrong, code] of cases)
      expect(await refused({}, { image, mask: wrong })).toBe(`${code} mask`);
  });

  it("EDIT2-07: drawn on a photo as it is shown goes to the vendor, which decides how it reads the photo", async () => {
    const photo = await sharp(image).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const upright = await maskOf(48, 64);
    expect((await run({}, { image: photo, mask: await maskOf() })).answer.size).toBe("64x48");
    // The sandbox reads the size as stored, and refuses it.
    await expect(run({}, { image: photo, mask: upright })).rejects.toThrow("invalid_mask_image");
    const plain = await sharp(image).jpeg().toBuffer();
    expect(await refused({}, { image: plain, mask: upright })).toBe("invalid_image_file mask");
  });

  it("EDIT2-09: applies to the first of several images", async () => {
    const other = await picture("png", { width: 80, height: 80 });
    const { answer } = await run({}, { "image[]": [image, other], mask: await maskOf() });
    expect(answer.size).toBe("64x48");
  });

  it("changes the picture only where it is transparent; the rest stays identical", async () => {
    const { answer } = await run({}, { image, mask: await maskOf() });
    const [before, after] = await Promise.all([
      rawOf(image.toString("base64")),
      rawOf(answer.data[0]!.b64_json),
    ]);
    const changed = Array.from({ length: 64 * 48 }, (_, pixel) => {
      const at = pixel * 3;
      return !before.subarray(at, at + 3).equals(after.subarray(at, at + 3));
    });
    expect(changed).toEqual(Array.from({ length: 64 * 48 }, (_, pixel) => pixel % 64 < 32));
  });
});

describe("the size", () => {
  const sizes = [
    "1024x1024",
    "2048x1152",
    "1280x720",
    "1536x1024",
    "1024x1536",
    "2048x2048",
    "3840x2160",
    "2160x3840",
  ];
  it.each(shortOrLong(sizes.slice(0, 3), sizes))("EDIT2-13, EDIT2-14: may be %s", async (size) => {
    const { answer, sent } = await run({ size, output_format: "jpeg" });
    expect(sent.body["size"]).toBe(size);
    expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`${size} jpeg`);
    expect(answer.size).toBe(size);
  });

  it("EDIT2-13, EDIT2-14, EDIT2-15: is auto by default, and refused if it breaks the rules", async () => {
    expect((await run({ size: "auto" })).sent.body["size"]).toBe("auto");
    expect((await run()).sent.body["size"]).toBe("auto");
    for (const size of ["1920x1080", "3088x1024", "abc"])
      expect(await refused({ size })).toBe("invalid_value size");
  });

  const ratios = [
    ["1:1", undefined, "1024x1024"],
    ["3:2", "1K", "1536x1024"],
    ["2:3", undefined, "1024x1536"],
    ["1:1", "2K", "2048x2048"],
    ["16:9", "2K", "2048x1152"],
    ["16:9", "4K", "3840x2160"],
    ["9:16", "4K", "2160x3840"],
  ] as const;
  it.each(ratios.slice(0, shortOrLong(5, ratios.length)))(
    "EDIT2-16, EDIT2-19: for ratio %s at tier %s is %s",
    async (aspect_ratio, image_size, size) => {
      const fields = { aspect_ratio, image_size, output_format: "jpeg", quality: "low" };
      const { answer, sent } = await run(fields);
      expect(sent.body["size"]).toBe(size);
      expect(sent.body).not.toHaveProperty("aspect_ratio");
      expect(answer).toMatchObject({ size, gw: { notes: [] } });
    },
  );

  it("EDIT2-17: wins over a ratio, which is dropped with a note", async () => {
    const { answer, sent } = await run({ size: "1280x720", aspect_ratio: "1:1" });
    expect(sent.body["size"]).toBe("1280x720");
    expect(answer.gw!.notes).toEqual(["aspect_ratio: size wins, dropped"]);
  });

  it("EDIT2-18: is auto, with a note, for a ratio without a size at its tier", async () => {
    const { answer, sent } = await run({ aspect_ratio: "3:2", image_size: "4K" });
    expect(sent.body["size"]).toBe("auto");
    expect(answer.gw!.notes.join()).toContain("aspect_ratio: ");
  });

  it("EDIT2-16, EDIT2-19, ERR-13: is refused for an unlisted ratio or tier", async () => {
    expect(await refused({ aspect_ratio: "5:4" })).toBe("invalid_value aspect_ratio");
    expect(await refused({ aspect_ratio: "5:4", size: "auto" })).toBe("invalid_value aspect_ratio");
    expect(await refused({ image_size: "8K" })).toBe("invalid_value image_size");
  });
});

describe("a field of form 2", () => {
  it("EDIT2-11, LIM-02: n is 1 to 10, and 1 by default", async () => {
    expect((await run()).answer.data).toHaveLength(1);
    const { answer } = await run({ n: 3 });
    expect(answer.data).toHaveLength(3);
    expect(answer.gw!.images.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(await refused({ n: 11 })).toBe("integer_above_max_value n");
  });

  it("EDIT2-20: quality is low, medium, high or auto, and auto by default", async () => {
    for (const quality of ["low", "medium", "high", "auto"])
      expect((await run({ quality })).sent.body["quality"]).toBe(quality);
    expect((await run()).sent.body["quality"]).toBe("auto");
    expect(await refused({ quality: "hd" })).toBe("invalid_value quality");
  });

  it("EDIT2-21, EDIT2-22, EDIT2-32: background is transparent, opaque or auto; transparent needs png or webp, and the answer reports it", async () => {
    expect((await run()).sent.body["background"]).toBe("auto");
    expect((await run({ background: "opaque" })).answer.background).toBe("opaque");
    for (const output_format of ["png", "webp"]) {
      const fields = { background: "transparent", output_format };
      // Half of it is transparent already.
      const { answer } = await run(fields, { image: await maskOf() });
      expect(answer).toMatchObject({ background: "transparent", output_format });
      const stats = await sharp(Buffer.from(answer.data[0]!.b64_json, "base64")).stats();
      expect(stats.isOpaque).toBe(false);
    }
    expect(await refused({ background: "transparent", output_format: "jpeg" })).toBe(
      "invalid_value background",
    );
  });

  it("EDIT2-23: output_format is png, the default, jpeg or webp", async () => {
    expect(await shapeOf((await run()).answer.data[0]!.b64_json)).toBe("64x48 png");
    for (const output_format of ["png", "jpeg", "webp"]) {
      const { answer } = await run({ output_format });
      expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`64x48 ${output_format}`);
      expect(answer.output_format).toBe(output_format);
    }
    expect(await refused({ output_format: "gif" })).toBe("invalid_value output_format");
  });

  it("EDIT2-24, LIM-03: output_compression is a text from 0 to 100 for jpeg and webp, and 100 by default", async () => {
    const { sent } = await run({ output_format: "webp", output_compression: "80" });
    expect(sent.body["output_compression"]).toBe("80");
    expect((await run({ output_format: "jpeg" })).sent.body["output_compression"]).toBe("100");
    const png = await run({ output_compression: "80" });
    expect(png.sent.body).not.toHaveProperty("output_compression");
    expect(png.answer.gw!.notes).toEqual(["output_compression: no effect on png, ignored"]);
    for (const output_compression of ["-1", "101"])
      expect(await refused({ output_format: "webp", output_compression })).toMatch(
        /^integer_\w+_value output_compression$/,
      );
  });

  it("EDIT2-25: user reaches the vendor", async () => {
    expect((await run({ user: "someone" })).sent.body["user"]).toBe("someone");
  });

  it("EDIT2-28, EDIT2-36, ERR-12: input_fidelity and unknown fields are dropped with a note", async () => {
    const { answer, sent } = await run({ input_fidelity: "high", foo: "1" });
    expect(sent.body).not.toHaveProperty("input_fidelity");
    expect(sent.body).not.toHaveProperty("foo");
    expect(answer.gw!.notes).toEqual([
      "input_fidelity: not configurable here, dropped",
      "foo: not supported by this model, dropped",
    ]);
  });
});

describe("the answer to form 2", () => {
  it("EDIT2-31, EDIT2-33, EDIT2-35, EDIT2-36: has the members of generations, and `gw` with addresses of the same pictures", async () => {
    const { answer, headers } = await run({ n: 2, output_format: "webp" });
    const members = "background,created,data,gw,output_format,quality,size,usage";
    expect(Object.keys(answer).sort().join()).toBe(members);
    const gw = answer.gw!;
    expect(gw).toEqual({
      task_id: expect.stringMatching(/^task_/),
      generation_id: headers.get("x-request-id"),
      provider: "sandbox-openai",
      cost_nano: expect.stringMatching(/^[1-9]\d*$/),
      images: [
        { index: 0, url: expect.stringContaining("/files/") },
        { index: 1, url: expect.stringContaining("/files/") },
      ],
      notes: [],
    });
    for (const [index, { url }] of gw.images.entries()) {
      const file = await fetch(url);
      expect(file.headers.get("content-type")).toBe("image/webp");
      const bytes = Buffer.from(await file.arrayBuffer());
      expect(bytes.toString("base64")).toBe(answer.data[index]!.b64_json);
    }
  });

  it("names a task that has the same pictures and the same cost", async () => {
    const { answer } = await run({ input_fidelity: "low" });
    const gw = answer.gw!;
    const task = (await (await bench.get(`/v1/tasks/${gw.task_id}`)).json()) as Fields;
    expect(task).toMatchObject({
      id: gw.task_id,
      status: "succeeded",
      model: modelB,
      output: { images: gw.images },
      usage: { total_tokens: answer.usage.total_tokens },
      notes: gw.notes,
    });
    const nano = (Number(task["cost"]) * 1e9).toFixed(0);
    expect(nano).toBe(gw.cost_nano);
  });

  it("EDIT2-43: the same form makes a task on /v1/tasks", async () => {
    const prompt = prompted();
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: modelB, prompt, size: "auto" }))
      form.append(name, value);
    form.append("image", new Blob([image]), "a.png");
    const made = await fetch(`${bench.url}/v1/tasks`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.key}`, prefer: "wait=20" },
      body: form,
    });
    const task = (await made.json()) as { id: string; status: string };
    expect(task).toMatchObject({ id: expect.stringMatching(/^task_/), status: "succeeded" });
  });
});
