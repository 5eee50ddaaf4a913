// The image task model with sixteen ratios and two tiers, end to end: the vendor's requests, refusals and notes, and the resulting
// pictures.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareOfRows, isLong } from "../support/long.ts";
import type { TaskBody } from "../task-http/support.ts";
import { padded } from "../task-http/upload-support.ts";
import {
  picturesOf,
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

const model = "sandbox/task-image-model-1";
const run = (fields: Fields, options?: Options) => bench.run({ model, ...fields }, options);
const refusal = (fields: Fields, options?: Options) => bench.refusal({ model, ...fields }, options);
/** The vendor's fields for a call. Expects no notes. */
async function sentOf(fields: Fields, options?: Options): Promise<Fields> {
  const { task, sent } = await run(fields, options);
  expect([task.status, task.notes]).toEqual(["succeeded", undefined]);
  return sent.body;
}
const inBothEncodings = [
  ["JSON", false],
  ["a form", true],
] as const;

describe.each(inBothEncodings)("a task in %s", (_encoding, form) => {
  // The short form tests each row in one of the encodings.
  const place = form ? 1 : 0;

  it("TIMG1-12 TIMG1-16 TIMG1-20 TIMG1-22: reaches the vendor with defaults for omitted fields, always with tier and quality, and without a user", async () => {
    const { task, sent } = await run({}, { form });
    expect(sent.path).toBe("/xai/v1/images/generations");
    expect(sent.body).toEqual({
      model: "task-image-model-1",
      prompt: expect.any(String) as string,
      n: 1,
      aspect_ratio: "1:1",
      resolution: "1k",
      quality: "low",
      response_format: "b64_json",
    });
    expect("notes" in task).toBe(false);
    expect(await shapesOf(task)).toEqual(["1024x1024 jpeg"]);
  });

  it.each(
    shareOfRows(
      [
        ["TIMG1-10 LIM-02", { n: 10 }, { n: 10 }],
        ["TIMG1-14", { image_size: "1K" }, { resolution: "1k" }],
        ["TIMG1-14", { image_size: "2K" }, { resolution: "2k" }],
        ["TIMG1-17", { quality: "low" }, { quality: "low" }],
        ["TIMG1-17", { quality: "medium" }, { quality: "medium" }],
        ["TIMG1-18", { quality: "auto" }, { quality: "low" }],
        ["TIMG1-21", { moderation: "low" }, { moderation: "low" }],
        ["TIMG1-21", { moderation: "high" }, { moderation: "high" }],
        ["TIMG1-21", { moderation: "auto" }, { moderation: undefined }],
        ["", { user: "someone" }, { user: "someone" }],
      ] satisfies [string, Fields, Fields][],
      place,
    ),
  )("%s %j reaches the vendor", async (_id, fields, wanted) => {
    const body = await sentOf({ quality: "low", ...fields }, { form });
    for (const [name, value] of Object.entries(wanted)) expect(body[name]).toEqual(value);
  });

  it.each(
    shareOfRows(
      [
        ["TIMG1-10 LIM-02", { n: 0 }, "integer_below_min_value n"],
        ["TIMG1-10 LIM-02", { n: 11 }, "integer_above_max_value n"],
        ["TIMG1-15", { image_size: "4K" }, "invalid_value image_size"],
        ["", { quality: "best" }, "invalid_value quality"],
        ["", { moderation: "none" }, "invalid_value moderation"],
        ["TIMG1-03", { prompt: "" }, "missing_required_parameter prompt"],
        ["TIMG1-28", { stream: true }, "streaming_not_supported stream"],
        ["TIMG1-28", { partial_images: 1 }, "streaming_not_supported partial_images"],
      ] satisfies [string, Fields, string][],
      place,
    ),
  )("%s %j is refused", async (_id, fields, wanted) => {
    expect(await refusal(fields, { form })).toBe(wanted);
  });

  it("TIMG1-01 TIMG1-03: model and prompt are required", async () => {
    const codes: string[] = [];
    for (const fields of [{ prompt: "A boat without a model" }, { model }]) {
      const body = form ? new FormData() : fields;
      if (body instanceof FormData)
        for (const [name, value] of Object.entries(fields)) body.append(name, value);
      const answer = await bench.send("POST", "/v1/tasks", { body });
      const { error } = (await answer.json()) as { error: { code: string; param: string } };
      codes.push(`${answer.status} ${error.code} ${error.param}`);
    }
    expect(codes).toEqual([
      "400 missing_required_parameter model",
      "400 missing_required_parameter prompt",
    ]);
  });

  it.each(
    shareOfRows(
      ["size", "background", "output_format", "output_compression", "input_fidelity", "seed"],
      place,
    ),
  )("TIMG1-27: %s is dropped with an explanation", async (name) => {
    const value = { size: "1024x1024", output_format: "png", seed: 7, output_compression: 5 };
    const { task, sent } = await run({ [name]: (value as Fields)[name] ?? "x" }, { form });
    expect(task.notes).toEqual([expect.stringMatching(`^${name}: .{10,}`)]);
    expect(sent.body).not.toHaveProperty(name);
    expect(task.status).toBe("succeeded");
  });

  it("TIMG1-13 ERR-13: an unlisted ratio and an unknown field are dropped with notes; an invalid value of a known field is refused", async () => {
    const { task, sent } = await run({ foo: 1, aspect_ratio: "7:5" }, { form });
    expect(task.notes).toEqual([
      "foo: not supported by this model, dropped",
      expect.stringMatching(/^aspect_ratio: .*7:5.*dropped/),
    ]);
    expect(sent.body).toMatchObject({ aspect_ratio: "1:1" });
    expect(sent.body).not.toHaveProperty("foo");
    expect(await refusal({ moderation: "x" }, { form })).toBe("invalid_value moderation");
  });

  it("TIMG1-29: style is dropped without a note", async () => {
    const { task, sent } = await run({ style: "vivid" }, { form });
    expect("notes" in task).toBe(false);
    expect(sent.body).not.toHaveProperty("style");
  });

  it("TIMG1-28: `stream: false` and `partial_images: 0` are accepted", async () => {
    const body = await sentOf({ stream: false, partial_images: 0 }, { form });
    expect(Object.keys(body)).not.toContain("stream");
  });
});

const sizes = {
  "1:1": "1024x1024",
  "4:3": "1152x864",
  "3:4": "864x1152",
  "3:2": "1248x832",
  "2:3": "832x1248",
  "16:9": "1280x720",
  "9:16": "720x1280",
  "2:1": "1408x704",
  "1:2": "704x1408",
  "21:9": "1568x672",
  "5:2": "1600x640",
  "19.5:9": "1248x576",
  "9:19.5": "576x1248",
  "20:9": "1280x576",
  "9:20": "576x1280",
};

/** Ratios of the short form: the square, the extremes of both kinds, and ratios with fractions. */
const shortFormRatios = ["1:1", "3:4", "21:9", "19.5:9", "9:20"];
const testedSizes = Object.entries(sizes).filter(
  ([ratio]) => isLong || shortFormRatios.includes(ratio),
);

describe("a picture", () => {
  it.each(testedSizes)("TIMG1-11 TIMG1-24: with ratio %s is %s", async (ratio, size) => {
    const { task, sent } = await run({ aspect_ratio: ratio });
    expect("notes" in task).toBe(false);
    expect(sent.body).toMatchObject({ aspect_ratio: ratio });
    expect(await shapesOf(task)).toEqual([`${size} jpeg`]);
  });

  it("TIMG1-11 TIMG1-25: with ratio auto has a size of the vendor's choice: the request names none", async () => {
    const { task, sent } = await run({ aspect_ratio: "auto" });
    expect("notes" in task).toBe(false);
    expect(sent.body).toMatchObject({ aspect_ratio: "auto" });
    expect(sent.body).not.toHaveProperty("size");
    expect(await picturesOf(task)).toHaveLength(1);
  });

  it("TIMG1-14 TIMG1-26: at 2K is a PNG, and has 2048x2048 pixels at 1:1", async () => {
    const { task } = await run({ image_size: "2K" });
    expect(await shapesOf(task)).toEqual(["2048x2048 png"]);
  });

  it("TIMG1-30: has the format of its tier, whatever output_format says", async () => {
    const { task } = await run({ output_format: "png", n: 2 });
    expect(await shapesOf(task)).toEqual(["1024x1024 jpeg", "1024x1024 jpeg"]);
    expect(task.notes).toEqual([expect.stringMatching(/^output_format: /)]);
  });

  it("TIMG1-19: in high quality is refused by the vendor, and then costs nothing", async () => {
    const before = await bench.available();
    const { task, sent } = await run({ quality: "high" });
    expect(sent.body).toMatchObject({ quality: "high" });
    expect(task).toMatchObject({
      status: "failed",
      cost: "0",
      error: { code: "invalid_argument" },
    });
    expect(task.error!.message).toContain("quality high is not supported");
    expect(await bench.available()).toBe(before);
  });

  it("fails with `invalid_argument` if the vendor calls an argument invalid", async () => {
    const script = {
      status: 400,
      error: { message: "No.", code: "Client specified an invalid argument" },
    };
    const { task } = await run({}, { script });
    expect(task).toMatchObject({
      status: "failed",
      error: { code: "invalid_argument", message: "No." },
    });
  });
});

/** The beginnings of the pictures in the vendor's request, each a JPEG in base64. */
const inputs = ({ image, images }: Fields): unknown[] =>
  [image ?? [], images ?? []].flat().map((one) => (one as { url: string }).url.slice(0, 23));

describe("reference pictures", () => {
  const jpeg = (bytes?: number) =>
    plain({ format: "jpeg" }).then((file) => (bytes === undefined ? file : padded(file, bytes)));
  const many = (count: number, file: Buffer) => Array.from({ length: count }, () => file);

  it.each(["image", "image[]"])(
    "TIMG1-04: sent as %s make an edit; without them it is a generation",
    async (name) => {
      const { task, sent } = await run({}, { files: { [name]: await jpeg() } });
      expect(sent.path).toBe("/xai/v1/images/edits");
      expect(inputs(sent.body)).toEqual(["data:image/jpeg;base64,"]);
      expect("notes" in task).toBe(false);
      expect(await shapesOf(task)).toEqual(["1024x1024 jpeg"]);
      expect((await run({}, { form: true })).sent.path).toBe("/xai/v1/images/generations");
    },
  );

  it("TIMG1-05 LIM-06: are accepted up to five", async () => {
    const { task, sent } = await run({}, { files: { "image[]": many(5, await jpeg()) } });
    expect(inputs(sent.body)).toHaveLength(5);
    expect(task.usage).toEqual({ output_images: 1, input_images: 5 });
  });

  it("TIMG1-06 LIM-06: are accepted with 25 MiB, and arrive with all bytes", async () => {
    const file = await jpeg(25 * 1024 * 1024);
    const { task, sent } = await run({}, { files: { image: file } });
    expect((sent.body["image"] as { url: string }).url).toContain("<26214400 bytes");
    expect(task.status).toBe("succeeded");
  });

  // The short form already tests the limit of the sum, with one of 25 MiB above and two of 20 MiB below.
  it.runIf(isLong)(
    "TIMG1-07 LIM-06: are accepted as two of 16 MiB, below 48 MB in base64",
    async () => {
      const file = await jpeg(16 * 1024 * 1024);
      const { task } = await run({}, { files: { image: [file, file] } });
      expect(task.status).toBe("succeeded");
    },
  );

  it.each([
    ["TIMG1-05 TIMG1-08 LIM-06: six pictures", 6, 1000, "too_many_images"],
    [
      "TIMG1-06 TIMG1-08 LIM-06: pictures with one byte more than 25 MiB",
      1,
      26_214_401,
      "image_too_large",
    ],
    ["TIMG1-07 TIMG1-08 LIM-06: two pictures of 20 MiB", 2, 20 * 1024 * 1024, "image_too_large"],
  ] as const)("%s are refused, and no task is created", async (_what, count, bytes, code) => {
    const before = await tasks();
    const files = { image: many(count, await jpeg(bytes)) };
    expect(await refusal({}, { files })).toBe(`${code} image`);
    expect(await tasks()).toBe(before);
  });

  it.each(["https://example.com/a.png", "data:image/png;base64,AAAA"])(
    "TIMG1-09: %s as text is refused, in JSON and in a form",
    async (image) => {
      for (const form of [false, true])
        expect(await refusal({ image }, { form })).toBe("image_url_not_supported image");
    },
  );

  it("TIMG1-27: a mask is dropped with an explanation", async () => {
    const file = await plain();
    const { task, sent } = await run({}, { files: { image: file, mask: file } });
    expect(task.notes).toEqual([expect.stringMatching(/^mask: .{10,}/)]);
    expect(sent.body).not.toHaveProperty("mask");
    expect(inputs(sent.body)).toHaveLength(1);
  });

  async function tasks(): Promise<number> {
    const [row] = await bench.database.query<{ count: bigint | string }>(
      "select count(*) from tasks",
    );
    return Number(row!.count);
  }
});

it("TASK-05: the same model generates without a picture and edits with one", async () => {
  const paths: string[] = [];
  for (const files of [undefined, { image: await plain() }]) {
    const { sent } = await run({}, files && { files });
    paths.push(sent.path.split("/").at(-1)!);
  }
  expect(paths).toEqual(["generations", "edits"]);
});

it("TASK-23 TASK-26: pictures have an index, and usage counts outputs and inputs", async () => {
  const file = await plain();
  const { task }: { task: TaskBody } = await run(
    { n: 2 },
    { files: { image: [file, file, file] } },
  );
  expect(task.output.images.map(({ index }) => index)).toEqual([0, 1]);
  expect(task.usage).toEqual({ output_images: 2, input_images: 3 });
});
