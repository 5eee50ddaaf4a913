// Form 1 of `POST /v1/images/edits`: the strict form, each field's domain, file types by content.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withMetadata } from "../support/metadata.ts";
import {
  maskOf,
  modelA,
  modelB,
  padded,
  picture,
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
  bench = await startImages();
  image = await picture();
});
afterAll(() => bench.close());

const run = (fields: Fields = {}, files: Files = { image }, script?: object) =>
  bench.runCall((prompt) => bench.edit({ model: modelA, prompt, ...fields }, files), script);
const refused = (fields: Fields, files: Files = { image }) =>
  bench.refusal((prompt) => bench.edit({ model: modelA, prompt, ...fields }, files));
/** The files that the vendor got under a name. */
const filesAt = ({ body }: { body: Fields }, name: string) =>
  [body[name]].flat() as { type: string; bytes: number; sha256: string; filename: string }[];

describe("the first edit form", () => {
  it("EDIT1-01, EDIT1-22: is accepted as multipart, and refused as JSON", async () => {
    const { answer } = await run();
    expect(await shapeOf(answer.data[0]!.b64_json)).toBe("64x48 png");
    expect(answer).toMatchObject({ size: "64x48", output_format: "png", background: "opaque" });
    const json = await bench.post("/v1/images/edits", { model: modelA, prompt: "x" });
    expect(json.status).toBe(400);
    const { error } = (await json.json()) as { error: object };
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    const unknown = await bench.edit({ prompt: "x" }, { image }, { authorization: "Bearer no" });
    expect(unknown.status).toBe(401);
  });

  it.each([
    ["application/json", '{"prompt": "x"}'],
    ["application/json", "not even JSON"],
    ["application/x-www-form-urlencoded", "prompt=x"],
    ["multipart/mixed; boundary=B", "--B--"],
    ["text/plain", "x"],
    ["image/png", "x"],
  ])(
    "EDIT1-01, EDIT2-38: a body of type %s is refused with 400, and the message names multipart/form-data",
    async (type, body) => {
      const headers = { authorization: `Bearer ${bench.key}`, "content-type": type };
      const answer = await fetch(`${bench.url}/v1/images/edits`, { method: "POST", headers, body });
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("malformed_request");
      expect(error.message).toContain("must be multipart/form-data");
    },
  );

  it("EDIT1-02, EDIT2-01, EDIT2-37: depends on the model; without one it is the first form", async () => {
    const first = await run({ model: undefined });
    expect(first.sent.body["model"]).toBe("image-model-a");
    expect(first.answer).not.toHaveProperty("gw");
    const second = await run({ model: modelB, foo: "1" });
    expect(second.sent.body["model"]).toBe("image-model-b");
    expect(second.answer.gw).toBeDefined();
  });

  it("EDIT1-03: is refused with an unknown field, or with a file under an unknown name", async () => {
    expect(await refused({ foo: 1 })).toBe("unknown_parameter foo");
    expect(await refused({ stream: "false" })).toBe("unknown_parameter stream");
    expect(await refused({}, { image, photo: image })).toBe("unknown_parameter photo");
  });

  it("EDIT1-12: accepts only its own model, which is the default", async () => {
    expect((await run({ model: undefined })).sent.body["model"]).toBe("image-model-a");
    expect(await refused({ model: "sandbox/task-image-model-2" })).toBe(
      "unsupported_protocol model",
    );
    expect(await refused({ model: "sandbox/none" })).toBe("invalid_value model");
  });

  it("EDIT1-09, LIM-01: requires a prompt of at most 32000 characters", async () => {
    expect(await refused({ prompt: undefined })).toBe("missing_required_parameter prompt");
    expect(await refused({ prompt: "x".repeat(32_001) })).toBe("string_above_max_length prompt");
    const long = await bench.edit({ prompt: "x".repeat(32_000) }, { image });
    expect(long.status).toBe(200);
  });
});

describe("the pictures of a form", () => {
  it("EDIT1-04: are required: at least one", async () => {
    expect(await refused({}, {})).toBe("missing_required_parameter image");
    expect(await refused({}, { mask: await maskOf() })).toBe("missing_required_parameter image");
  });

  it("EDIT1-05: are accepted as PNG, JPEG and WebP by their content; others are refused", async () => {
    for (const format of ["png", "jpeg", "webp"] as const) {
      const file = await picture(format);
      const { sent, answer } = await run({}, { image: file });
      expect(filesAt(sent, "image")[0]).toMatchObject({
        type: `image/${format}`,
        sha256: sha256(file),
      });
      expect(answer.size).toBe("64x48");
    }
    const gif = Buffer.from("GIF89a\x08\0\x08\0\x80\0\0", "latin1");
    expect(await refused({}, { image: gif })).toBe("invalid_image_file image");
  });

  it("EDIT1-05: may have metadata of any length; broken ones are refused and leave no file", async () => {
    for (const format of ["png", "jpeg"] as const) {
      const file = withMetadata(await picture(format), 2_500_000);
      const { sent, answer } = await run({}, { image: file });
      expect(filesAt(sent, "image")[0]).toMatchObject({
        type: `image/${format}`,
        sha256: sha256(file),
      });
      expect(answer.size).toBe("64x48");
    }
    const before = await bench.state();
    const broken = padded(withMetadata(await picture("jpeg"), 200_000).subarray(0, 150_000), 2e6);
    expect(await refused({}, { image: broken })).toBe("invalid_image_file image");
    const endless = withMetadata(await picture("png"), 2_000_000).subarray(0, 2_000_000);
    expect(await refused({}, { image: endless })).toBe("invalid_image_file image");
    expect(await bench.state()).toEqual(before);
  });

  it("EDIT1-06: reach the vendor in order as `image[]`, whatever spelling the caller uses", async () => {
    const files = [image, await picture("jpeg"), await picture("webp")];
    const mixed = { image: files[0]!, "image[]": files.slice(1) };
    // PHP's forms cannot repeat a name.
    const numbered = Object.fromEntries(files.map((file, index) => [`image[${index}]`, file]));
    for (const spelled of [{ "image[]": files }, { image: files }, mixed, numbered] as Files[]) {
      const { sent } = await run({}, spelled);
      expect(filesAt(sent, "image[]").map(({ sha256: hash }) => hash)).toEqual(files.map(sha256));
    }
  });

  it("EDIT1-07, LIM-04: are accepted up to sixteen", async () => {
    const files = Array.from({ length: 16 }, () => image);
    expect(filesAt((await run({}, { "image[]": files })).sent, "image[]")).toHaveLength(16);
    expect(await refused({}, { "image[]": [...files, image] })).toBe("too_many_images image");
  });

  it("EDIT1-08, LIM-04: are accepted up to 25 MB each", async () => {
    const { sent } = await run({}, { image: padded(image, 25_000_000) });
    expect(filesAt(sent, "image")[0]!.bytes).toBe(25_000_000);
    expect(await refused({}, { image: padded(image, 25_000_001) })).toBe("image_too_large image");
    expect(await refused({}, { image: padded(image, 27_000_000) })).toBe("image_too_large image");
  });

  it("EDIT1-10: may have a mask, which reaches the vendor unchanged and must be a PNG", async () => {
    const mask = await maskOf();
    const { sent } = await run({}, { image, mask });
    expect(filesAt(sent, "mask")[0]).toMatchObject({ type: "image/png", sha256: sha256(mask) });
    expect(await refused({}, { image, mask: await picture("webp") })).toBe(
      "invalid_image_file mask",
    );
  });

  it("EDIT1-11, LIM-05: may have a mask below 4 MB, with alpha and of the first picture's size", async () => {
    const mask = await maskOf();
    const other = await picture("png", { width: 32, height: 32 });
    const { sent } = await run({}, { "image[]": [image, other], mask: padded(mask, 3_999_999) });
    expect(filesAt(sent, "mask")[0]!.bytes).toBe(3_999_999);
    const tooLarge = padded(mask, 4_000_000);
    expect(await refused({}, { image, mask: tooLarge })).toBe("image_too_large mask");
    const wrongSize = await maskOf(32, 32);
    expect(await refused({}, { image, mask: wrongSize })).toBe("invalid_image_file mask");
    expect(await refused({}, { image, mask: image })).toBe("invalid_image_file mask");
  });
});

describe("a field of form 1", () => {
  it("EDIT1-13: input_fidelity is high or low", async () => {
    for (const input_fidelity of ["high", "low"])
      expect((await run({ input_fidelity })).sent.body["input_fidelity"]).toBe(input_fidelity);
    expect(await refused({ input_fidelity: "medium" })).toBe("invalid_value input_fidelity");
  });

  it("EDIT1-14, LIM-02: n is 1 to 10, and 1 by default", async () => {
    expect((await run()).answer.data).toHaveLength(1);
    expect((await run({ n: 10 })).answer.data).toHaveLength(10);
    expect(await refused({ n: 0 })).toBe("integer_below_min_value n");
    expect(await refused({ n: 11 })).toBe("integer_above_max_value n");
    expect(await refused({ n: "1.5" })).toBe("invalid_type n");
  });

  it("EDIT1-14, EDIT1-15, EDIT1-16, EDIT1-17, EDIT1-18, EDIT1-20: all omitted fields have their defaults", async () => {
    const { sent } = await run();
    const { model: _model, prompt: _prompt, image: _image, ...fields } = sent.body;
    expect(fields).toEqual({
      n: "1",
      size: "auto",
      quality: "auto",
      background: "auto",
      output_format: "png",
      moderation: "auto",
    });
  });

  it("EDIT1-15, LIM-07: size follows the same rules as in generations", async () => {
    for (const size of ["1536x1024", "1280x720"]) {
      const { answer } = await run({ size });
      expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`${size} png`);
    }
    for (const size of ["1920x1080", "3856x2160", "abc"])
      expect(await refused({ size })).toBe("invalid_value size");
    expect((await run()).sent.body["size"]).toBe("auto");
  });

  it("EDIT1-16: quality is low, medium, high or auto, and auto by default", async () => {
    for (const quality of ["low", "medium", "high", "auto"])
      expect((await run({ quality })).sent.body["quality"]).toBe(quality);
    expect((await run()).sent.body["quality"]).toBe("auto");
    expect(await refused({ quality: "best" })).toBe("invalid_value quality");
  });

  it("EDIT1-17: background is opaque or auto", async () => {
    for (const background of ["opaque", "auto"])
      expect((await run({ background })).answer.background).toBe("opaque");
    expect(await refused({ background: "transparent" })).toBe("invalid_value background");
  });

  it("EDIT1-18: output_format is png, the default, or jpeg", async () => {
    expect(await shapeOf((await run()).answer.data[0]!.b64_json)).toBe("64x48 png");
    const { answer } = await run({ output_format: "jpeg" });
    expect(await shapeOf(answer.data[0]!.b64_json)).toBe("64x48 jpeg");
    expect(await refused({ output_format: "webp" })).toBe("invalid_value output_format");
  });

  it("EDIT1-19, LIM-03: output_compression is 0 to 100, and 100 by default for jpeg", async () => {
    const fields = { output_format: "jpeg" };
    expect((await run(fields)).sent.body["output_compression"]).toBe("100");
    const { sent } = await run({ ...fields, output_compression: 0 });
    expect(sent.body["output_compression"]).toBe("0");
    for (const [value, code] of [
      [101, "integer_above_max_value"],
      [-1, "integer_below_min_value"],
    ] as const)
      expect(await refused({ ...fields, output_compression: value })).toBe(
        `${code} output_compression`,
      );
  });

  it("EDIT1-20: moderation is low or auto, and auto by default", async () => {
    for (const moderation of ["low", "auto"])
      expect((await run({ moderation })).sent.body["moderation"]).toBe(moderation);
    expect((await run()).sent.body["moderation"]).toBe("auto");
    expect(await refused({ moderation: "none" })).toBe("invalid_value moderation");
  });

  it("EDIT1-21: user reaches the vendor", async () => {
    expect((await run({ user: "someone" })).sent.body["user"]).toBe("someone");
  });
});
