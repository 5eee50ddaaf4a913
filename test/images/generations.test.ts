// `POST /v1/images/generations`: every field's domain, the vendor's request, and the answer's fields about the pictures.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../../src/tenancy/index.ts";
import {
  modelA,
  modelB,
  prompted,
  shapeOf,
  startImages,
  type Fields,
  type ImageBench,
} from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench.close());

const run = (fields: Fields = {}, script?: object) =>
  bench.runCall((prompt) => bench.generate({ prompt, ...fields }), script);
const dataUrl = "data:image/png;base64,iVBORw0KGgo=";
const refused = (fields: Fields) =>
  bench.refusal((prompt) => bench.generate({ prompt, ...fields }));

describe("a generation", () => {
  it("IMG-01, IMG-19, IMG-20: is answered at once with base64 pictures and the time", async () => {
    const { answer, headers } = await run();
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-request-id")).toMatch(/^req_/);
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(5);
    expect(Number.isInteger(answer.created)).toBe(true);
    expect(await shapeOf(answer.data[0]!.b64_json)).toBe("64x64 png");
    const members = "background,created,data,output_format,quality,size,usage";
    expect(Object.keys(answer).sort().join()).toBe(members);
  });

  it("IMG-02: refuses any other model, whether it exists or not", async () => {
    expect(await refused({ model: modelB })).toBe("unsupported_protocol model");
    expect(await refused({ model: "sandbox/chat" })).toMatch(/ model$/);
    expect(await refused({ model: "sandbox/no-such-model" })).toBe("invalid_value model");
    expect(await refused({ model: "nonsense" })).toBe("invalid_value model");
    expect(await refused({ model: 7 })).toBe("invalid_type model");
  });

  it("IMG-03: without a model uses the only one there is", async () => {
    expect((await run({ model: undefined })).sent.body["model"]).toBe("image-model-a");
  });

  it("IMG-03 ALLOW-05: without a model is refused with 403 if the key may not call the only one", async () => {
    const internals = await bench.internals();
    for (const settings of [
      { modelAllowlist: ["sandbox/chat"] },
      { routing: { pinnedProviders: ["sandbox-google"] } },
    ]) {
      const input = { workspaceId: bench.workspaceId, name: "narrow", createdBy: null };
      const { key } = await createKey(internals, { ...input, ...settings });
      const headers = { authorization: `Bearer ${key}` };
      for (const model of [undefined, modelA]) {
        const answer = await bench.generate({ model }, headers);
        expect([answer.status, await answer.json()]).toMatchObject([
          403,
          { error: { code: "model_not_allowed", param: "model" } },
        ]);
      }
    }
  });

  it("IMG-04, IMG-05, LIM-01: requires a prompt of at most 32000 characters", async () => {
    expect(await refused({ prompt: undefined })).toBe("missing_required_parameter prompt");
    expect(await refused({ prompt: "" })).toBe("missing_required_parameter prompt");
    expect((await bench.generate({ prompt: "x".repeat(32_000) })).status).toBe(200);
    expect(await refused({ prompt: "x".repeat(32_001) })).toBe("string_above_max_length prompt");
    expect((await bench.generate({ prompt: "\u{1f98a}".repeat(32_000) })).status).toBe(200);
    expect(await refused({ prompt: "\u{1f98a}".repeat(32_001) })).toBe(
      "string_above_max_length prompt",
    );
  });

  it("IMG-06, LIM-02: makes n pictures, from 1 to 10", async () => {
    for (const n of [1, 10]) {
      const { answer } = await run({ n });
      expect(answer.data).toHaveLength(n);
      expect(new Set(answer.data.map(({ b64_json }) => b64_json)).size).toBe(n);
    }
    expect(await refused({ n: 0 })).toBe("integer_below_min_value n");
    expect(await refused({ n: 11 })).toBe("integer_above_max_value n");
    expect(await refused({ n: "2" })).toBe("invalid_type n");
  });

  it("IMG-29: has the documented defaults for omitted fields", async () => {
    const { answer, sent } = await run({ model: undefined, size: undefined, quality: undefined });
    expect(answer.data).toHaveLength(1);
    expect(sent.body).toEqual({
      model: "image-model-a",
      prompt: expect.any(String),
      n: 1,
      size: "auto",
      quality: "auto",
      background: "auto",
      output_format: "png",
      moderation: "auto",
    });
  });
});

describe("the size of a generation", () => {
  it("IMG-07, IMG-25: is a preset, or auto, for which the answer names the rendered size", async () => {
    for (const size of ["1024x1024", "1536x1024", "1024x1536", "auto"]) {
      const { answer, sent } = await run({ size });
      expect(sent.body["size"]).toBe(size);
      expect(answer.size).toBe(size === "auto" ? "1024x1024" : size);
      expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`${answer.size} png`);
    }
  });

  it.each(["1280x720", "1920x1088", "3072x1024", "1024x3072", "3840x2160", "2160x3840"])(
    "IMG-08, IMG-09, IMG-10, IMG-11, LIM-07: may be %s",
    async (size) => {
      const { answer } = await run({ size, output_format: "jpeg" });
      expect(answer.size).toBe(size);
      expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`${size} jpeg`);
    },
  );

  it.each(["abc", "1024", "1920x1080", "3088x1024", "1024x3088", "3856x2160", "3840x2176", "0x0"])(
    "IMG-08, IMG-09, IMG-10, IMG-11, LIM-07: may not be %s",
    async (size) => {
      expect(await refused({ size })).toBe("invalid_value size");
    },
  );
});

describe("an input picture of a generation", () => {
  it.each(["image", "images", "image_url", "image_urls", "input_image", "mask"])(
    "is refused as %s before anything is sent or charged",
    async (name) => {
      const before = await bench.state();
      const value = name.endsWith("s") ? [dataUrl] : dataUrl;
      expect(await refused({ [name]: value })).toBe(`unsupported_parameter ${name}`);
      expect(await bench.state()).toEqual(before);
    },
  );
});

describe("a field of a generation", () => {
  it("IMG-12, IMG-24: quality is one of four, and reported as one of three", async () => {
    for (const quality of ["low", "medium", "high", "auto"]) {
      const { answer, sent } = await run({ quality });
      expect(sent.body["quality"]).toBe(quality);
      expect(answer.quality).toBe(quality === "auto" ? "medium" : quality);
    }
    expect(await refused({ quality: "hd" })).toBe("invalid_value quality");
  });

  it("IMG-13, IMG-22: background is opaque or auto, and transparent is refused", async () => {
    for (const background of ["opaque", "auto"]) {
      const { answer, sent } = await run({ background });
      expect(sent.body["background"]).toBe(background);
      expect(answer.background).toBe("opaque");
    }
    expect(await refused({ background: "transparent" })).toBe("invalid_value background");
  });

  it("IMG-14, IMG-23: output_format png and jpeg are the formats of the pictures", async () => {
    for (const output_format of ["png", "jpeg"]) {
      const { answer } = await run({ output_format });
      expect(answer.output_format).toBe(output_format);
      expect(await shapeOf(answer.data[0]!.b64_json)).toBe(`64x64 ${output_format}`);
    }
    expect(await refused({ output_format: "webp" })).toBe("invalid_value output_format");
  });

  it("IMG-15, IMG-16, LIM-03: output_compression is 0 to 100, and reaches the vendor only for jpeg", async () => {
    for (const output_compression of [0, 100]) {
      const { sent } = await run({ output_format: "jpeg", output_compression });
      expect(sent.body["output_compression"]).toBe(output_compression);
    }
    const prompt = "The same fox";
    const one = await bench.generate({ prompt, output_compression: 5 });
    const other = await bench.generate({ prompt });
    expect(one.headers.get("x-gw-dropped-params")).toBe("output_compression");
    const [{ data: small }, { data: large }] = (await Promise.all([one.json(), other.json()])) as [
      { data: unknown },
      { data: unknown },
    ];
    expect(small).toEqual(large);
    expect(await refused({ output_compression: -1 })).toBe(
      "integer_below_min_value output_compression",
    );
    expect(await refused({ output_compression: 101 })).toBe(
      "integer_above_max_value output_compression",
    );
    for (const output_compression of ["50", 1.5, true])
      expect(await refused({ output_compression })).toBe("invalid_type output_compression");
  });

  it("IMG-17: moderation is low or auto", async () => {
    for (const moderation of ["low", "auto"])
      expect((await run({ moderation })).sent.body["moderation"]).toBe(moderation);
    expect(await refused({ moderation: "high" })).toBe("invalid_value moderation");
  });

  it("IMG-18: user reaches the vendor", async () => {
    expect((await run({ user: "someone" })).sent.body["user"]).toBe("someone");
  });

  it("ERR-12: an unknown field is dropped and reported", async () => {
    const { headers, sent } = await run({ style: "vivid", response_format: "url" });
    expect(headers.get("x-gw-dropped-params")).toBe("style, response_format");
    expect(sent.body).not.toHaveProperty("style");
    expect(sent.body).not.toHaveProperty("response_format");
  });
});

describe("the answer to a generation", () => {
  it("IMG-21: has a revised prompt if the vendor sent one", async () => {
    const { answer } = await run({}, { reply: "A red fox" });
    expect(answer.data[0]!.revised_prompt).toBe("A red fox");
    expect((await run()).answer.data[0]).not.toHaveProperty("revised_prompt");
  });

  it("IMG-26, IMG-27: has token counts that add up, with both details", async () => {
    const { usage } = (await run({ quality: "high" })).answer;
    expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
    const { input_tokens_details: input, output_tokens_details: output } = usage;
    expect(Object.keys(input).sort()).toEqual(["image_tokens", "text_tokens"]);
    expect(Object.keys(output).sort()).toEqual(["image_tokens", "text_tokens"]);
    expect(input.image_tokens + input.text_tokens).toBe(usage.input_tokens);
    expect(output.image_tokens + output.text_tokens).toBe(usage.output_tokens);
    expect(output.image_tokens).toBe((4 + 1) * 4);
  });

  it("EDIT2-37: has no `gw` member", async () => {
    expect((await run({ foo: 1 })).answer).not.toHaveProperty("gw");
  });
});

describe("a refused generation", () => {
  it("ERR-01, EDIT1-22: has no key or an invalid field, and its error has all four members", async () => {
    const refusal = await bench.post(
      "/v1/images/generations",
      { prompt: "x" },
      { authorization: "" },
    );
    expect(refusal.status).toBe(401);
    const { error } = (await refusal.json()) as { error: object };
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    const prompt = prompted();
    const invalid = await bench.generate({ prompt, n: 0 });
    expect(await invalid.json()).toEqual({
      error: {
        message: "n: must be at least 1.",
        type: "invalid_request_error",
        param: "n",
        code: "integer_below_min_value",
      },
    });
  });

  it("is a form, a body that is not JSON, or a prompt with a NUL", async () => {
    const headers = { authorization: `Bearer ${bench.key}` };
    const url = `${bench.url}/v1/images/generations`;
    const form = new FormData();
    form.append("prompt", "x");
    expect((await fetch(url, { method: "POST", headers, body: form })).status).toBe(415);
    expect((await bench.post("/v1/images/generations", "{")).status).toBe(400);
    expect(
      (await bench.post("/v1/images/generations", { prompt: "a\0b", model: modelA })).status,
    ).toBe(400);
  });
});
