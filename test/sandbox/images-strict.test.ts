/** Image requests that the openai-like vendor refuses: fields, sizes, forms and files. */
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { ask } from "./media.ts";
import { pixel } from "../support/pixel.ts";
import { useSandbox } from "./support.ts";

const sandbox = useSandbox();
const at = (path: string) => `${sandbox.url}/openai/v1/images/${path}`;

type Row = readonly [fields: Record<string, unknown>, code: string | null, param: string | null];

describe("image generations", () => {
  const rows: Row[] = [
    [{ prompt: undefined }, "missing_required_parameter", "prompt"],
    [{ model: undefined }, "missing_required_parameter", "model"],
    [{ prompt: "x".repeat(32_001) }, "string_above_max_length", "prompt"],
    [{ response_format: "b64_json" }, "unknown_parameter", "response_format"],
    [{ input_fidelity: "high" }, "unknown_parameter", "input_fidelity"],
    [{ n: 0 }, "integer_below_min_value", "n"],
    [{ n: 11 }, "integer_above_max_value", "n"],
    [{ n: 1.5 }, "invalid_type", "n"],
    [{ n: "1" }, "invalid_type", "n"],
    [{ stream: "true" }, "invalid_type", "stream"],
    [{ partial_images: 1 }, null, "partial_images"],
    [{ stream: true, partial_images: 4 }, "integer_above_max_value", "partial_images"],
    [{ quality: "max" }, "invalid_value", "quality"],
    [{ moderation: "high" }, "invalid_value", "moderation"],
    [{ output_format: "gif" }, "invalid_value", "output_format"],
    [
      { output_format: "jpeg", output_compression: 101 },
      "integer_above_max_value",
      "output_compression",
    ],
    [{ output_compression: 80 }, "invalid_png_output_compression", "output_compression"],
    [{ background: "transparent", output_format: "jpeg" }, "invalid_value", "background"],
    [{ size: "1920x1080" }, "invalid_value", "size"],
    [{ size: "3088x1024" }, "invalid_value", "size"],
    [{ size: "3840x2176" }, "invalid_value", "size"],
    [{ size: "abc" }, "invalid_value", "size"],
    [{ model: "image-model-a", background: "transparent" }, "invalid_value", "background"],
    [{ model: "image-model-a", output_format: "webp" }, "invalid_value", "output_format"],
    [{ model: "task-image-model-2", size: "2048x2048" }, "invalid_value", "size"],
  ];
  it.each(rows)("refuse %j", async (fields, code, param) => {
    const body = { model: "image-model-b", prompt: "A fox", ...fields };
    const refused = await ask(at("generations"), { body });
    expect(refused.status).toBe(400);
    expect(refused.json?.["error"]).toMatchObject({ code, param, type: "invalid_request_error" });
  });

  it("refuse a model that makes no images, and a form", async () => {
    const unknown = await ask(at("generations"), { body: { model: "sandbox-large", prompt: "A" } });
    expect([unknown.status, unknown.json?.["error"]]).toEqual([
      404,
      expect.objectContaining({ code: "model_not_found" }),
    ]);
    const form = new FormData();
    form.set("model", "image-model-b");
    form.set("prompt", "A fox");
    const headers = { authorization: "Bearer sandbox" };
    const wrong = await fetch(at("generations"), { method: "POST", body: form, headers });
    expect([wrong.status, await wrong.text()]).toEqual([
      400,
      expect.stringContaining("expected application/json"),
    ]);
  });
});

const png = Buffer.from(pixel, "base64");
const blob = (bytes: Buffer, type = "image/png") => new Blob([new Uint8Array(bytes)], { type });
const opaque = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "red" } })
    .png()
    .toBuffer();

async function edit(
  parts: readonly (readonly [name: string, value: string | Blob])[],
  model = "image-model-b",
): Promise<{ status: number; error: Record<string, unknown> }> {
  const form = new FormData();
  form.set("model", model);
  form.set("prompt", "A fox");
  for (const [name, value] of parts) form.append(name, value);
  const headers = { authorization: "Bearer sandbox" };
  const response = await fetch(at("edits"), { method: "POST", body: form, headers });
  const json = (await response.json()) as { error?: Record<string, unknown> };
  return { status: response.status, error: json.error ?? {} };
}

describe("image edits", () => {
  const image = ["image", blob(png)] as const;
  it.each<[words: string, parts: Parameters<typeof edit>[0], code: string]>([
    ["no image", [["size", "auto"]], "missing_required_parameter"],
    [
      "a URL instead of an image file",
      [["image", "https://example.com/a.png"]],
      "unknown_parameter",
    ],
    ["an unknown field", [image, ["style", "vivid"]], "unknown_parameter"],
    ["an unknown file", [image, ["picture", blob(png)]], "unknown_parameter"],
    ["two parts named `image`", [image, image], "duplicate_parameter"],
    ["image beside image[]", [image, ["image[]", blob(png)]], "duplicate_parameter"],
    ["a field twice", [image, ["n", "1"], ["n", "2"]], "duplicate_parameter"],
    ["a value that is not a number", [image, ["n", "one"]], "invalid_type"],
    [
      "17 images",
      Array.from({ length: 17 }, () => ["image[]", blob(png)] as const),
      "array_above_max_length",
    ],
    ["a file without a type", [["image", blob(png, "")]], "unsupported_file_mimetype"],
    ["a gif", [["image", blob(png, "image/gif")]], "unsupported_file_mimetype"],
    [
      "a PNG that is declared as a JPEG",
      [["image", blob(png, "image/jpeg")]],
      "invalid_image_file",
    ],
    ["bytes that are not an image", [["image", blob(Buffer.from("hello"))]], "invalid_image_file"],
    ["a truncated image", [["image", blob(png.subarray(0, 50))]], "invalid_image_file"],
    [
      "a mask that is not a PNG",
      [image, ["mask", blob(png, "image/webp")]],
      "unsupported_file_mimetype",
    ],
    [
      "input_fidelity for a model that always uses high",
      [image, ["input_fidelity", "low"]],
      "unknown_parameter",
    ],
  ])("refuse %s", async (_words, parts, code) => {
    expect(await edit(parts)).toMatchObject({ status: 400, error: { code } });
  });

  it("refuse a mask without alpha, of another size, or too large", async () => {
    const clear = sharp({
      create: { width: 2, height: 2, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    });
    const masks = [
      await opaque(1, 1),
      await clear.png().toBuffer(),
      Buffer.concat([png, Buffer.alloc(4_000_000)]),
    ];
    const source = ["image", blob(await opaque(1, 1))] as const;
    for (const mask of masks) {
      const refused = await edit([source, ["mask", blob(mask)]]);
      expect(refused).toMatchObject({
        status: 400,
        error: { code: "invalid_mask_image", param: "mask" },
      });
    }
  });

  it("refuse moderation if the model has it for generations only", async () => {
    const parts = [image, ["moderation", "low"]] as const;
    expect((await edit(parts, "task-image-model-2")).error["param"]).toBe("moderation");
    expect((await edit(parts, "image-model-a")).status).toBe(200);
  });

  it("refuse JSON, and a form that is cut off", async () => {
    const json = await ask(at("edits"), { body: { model: "image-model-b", prompt: "A fox" } });
    expect([json.status, JSON.stringify(json.json)]).toEqual([
      400,
      expect.stringContaining("expected multipart/form-data"),
    ]);
    const cut = await fetch(at("edits"), {
      method: "POST",
      headers: {
        authorization: "Bearer sandbox",
        "content-type": "multipart/form-data; boundary=x",
      },
      body: '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nimage-mod',
    });
    expect([cut.status, await cut.text()]).toEqual([400, expect.stringContaining("whole form")]);
    expect(sandbox.journal.list().at(-1)!.body).toEqual({
      broken_form: "the form ends in its middle",
    });
  });
});
