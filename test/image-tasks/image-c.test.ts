// The image model at a vendor with its own tasks, and the model of edit form 2 with its larger sizes: every field, and the resulting
// pixels. Also the alias format while that vendor has forgotten a task.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { video } from "../task-http/support.ts";
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
  bench = await startImages({
    tasks: { timing: { firstPollMs: 30, sweepMs: 100, missesMin: 3, missingMs: 300 } },
  });
});
afterAll(() => bench?.close());

const model = "sandbox/image-model-c";
const service = "/dashscope/api/v1/services/aigc/image-generation/generation";
const run = (fields: Fields, options?: Options) => bench.run({ model, ...fields }, options);
const refusal = (fields: Fields, options?: Options) => bench.refusal({ model, ...fields }, options);

interface Body {
  readonly input: { readonly messages: { readonly content: Fields[] }[] };
  readonly parameters: Fields;
}
const partsOf = (body: Fields) => (body as unknown as Body).input.messages[0]!.content;
const parametersOf = (body: Fields) => (body as unknown as Body).parameters;
const shortened = (part: Fields) =>
  "image" in part ? String(part["image"]).slice(0, 22) : Object.keys(part)[0];

describe.each([
  ["JSON", false],
  ["a form", true],
] as const)("image-model-c in %s", (_encoding, form) => {
  // The short form tests each row in one of the encodings.
  const place = form ? 1 : 0;

  it("omitted fields reach the vendor with their defaults", async () => {
    const { task, sent } = await run({}, { form });
    expect(sent.path).toBe(service);
    expect(sent.body).toEqual({
      model: "wan3-sandbox-image",
      input: {
        messages: [{ role: "user", content: [{ text: expect.any(String) as string }] }],
      },
      parameters: { n: 1, size: "1024*1024", watermark: false },
    });
    expect("notes" in task).toBe(false);
    expect(await shapesOf(task)).toEqual(["1024x1024 png"]);
    expect(task.usage).toEqual({ output_images: 1, input_images: 0 });
  });

  it.each(
    shareOfRows(
      [
        [{ n: 3 }, { n: 3 }],
        [{ size: "1328x1328" }, { size: "1328*1328" }],
        [{ aspect_ratio: "3:4" }, { size: "864*1152" }],
        [{ image_size: "2K" }, { size: "2048*2048" }],
        [{ aspect_ratio: "16:9", image_size: "4K" }, { size: "3840*2160" }],
        [{ negative_prompt: "blur" }, { negative_prompt: "blur" }],
        [{ seed: 0 }, { seed: 0 }],
        [{ seed: 2_147_483_647 }, { seed: 2_147_483_647 }],
        [{ prompt_extend: true }, { prompt_extend: true }],
        [{ prompt_extend: false }, { prompt_extend: false }],
        [{ watermark: true }, { watermark: true }],
      ] satisfies [Fields, Fields][],
      place,
    ),
  )("%j reaches the vendor", async (fields, wanted) => {
    const { task, sent } = await run(fields, { form });
    expect([task.status, task.notes]).toEqual(["succeeded", undefined]);
    expect(parametersOf(sent.body)).toMatchObject(wanted);
  });

  it.each(
    shareOfRows(
      [
        [{ n: 11 }, "integer_above_max_value n"],
        [{ size: "auto" }, "invalid_value size"],
        [{ aspect_ratio: "21:9" }, "invalid_value aspect_ratio"],
        [{ image_size: "8K" }, "invalid_value image_size"],
        [{ seed: -1 }, "integer_below_min_value seed"],
        [{ seed: 2_147_483_648 }, "integer_above_max_value seed"],
        [{ prompt_extend: "yes" }, "invalid_type prompt_extend"],
        [{ watermark: "no" }, "invalid_type watermark"],
      ] satisfies [Fields, string][],
      place,
    ),
  )("%j is refused", async (fields, wanted) => {
    expect(await refusal(fields, { form })).toBe(wanted);
  });

  it.each(
    shareOfRows(
      [
        [
          { size: "1024x1536", aspect_ratio: "1:1", image_size: "2K" },
          ["aspect_ratio", "image_size"],
        ],
        [{ foo: 1, quality: "high" }, ["foo", "quality"]],
        [{ user: "someone" }, ["user"]],
      ] satisfies [Fields, string[]][],
      place,
    ),
  )("%j is accepted with a note", async (fields, notes) => {
    const { task, sent } = await run(fields, { form });
    expect(task.notes!.map((note) => note.split(":")[0])).toEqual(notes);
    const size = "size" in fields ? "1024*1536" : "1024*1024";
    expect(parametersOf(sent.body)).toEqual({ n: 1, size, watermark: false });
  });
});

describe("image-model-c", () => {
  it("sends pictures before the prompt, in order, and counts them", async () => {
    const files = {
      "image[]": [await plain(), await plain({ format: "jpeg" }), await plain({ format: "webp" })],
    };
    const { task, sent } = await run({ n: 2 }, { files });
    expect(partsOf(sent.body).map(shortened)).toEqual([
      "data:image/png;base64,",
      "data:image/jpeg;base64",
      "data:image/webp;base64",
      "text",
    ]);
    expect(task.usage).toEqual({ output_images: 2, input_images: 3 });
    expect(await shapesOf(task)).toEqual(["1024x1024 png", "1024x1024 png"]);
  });

  it("accepts nine pictures but not ten, and drops a mask with a note", async () => {
    const image = await plain();
    const nine = Array.from({ length: 9 }, () => image);
    expect((await run({}, { files: { image: nine } })).task.status).toBe("succeeded");
    expect(await refusal({}, { files: { image: [...nine, image] } })).toBe("too_many_images image");
    const { task } = await run({}, { files: { image, mask: image } });
    expect(task.notes).toEqual([expect.stringMatching(/^mask: .*dropped/)]);
  });

  it("fails a task that the vendor refuses or fails with an error code, uncharged", async () => {
    const before = await bench.available();
    const blocked = await run({}, { script: { task_outcome: "blocked" } });
    expect(blocked.task).toMatchObject({
      status: "failed",
      cost: "0",
      error: { code: "content_policy_violation" },
    });
    const failed = await run({}, { script: { task_outcome: "failed" } });
    expect(failed.task).toMatchObject({ status: "failed", error: { code: "upstream_error" } });
    expect(await bench.available()).toBe(before);
  });
});

describe("the size of a picture", () => {
  // Sizes above eight million pixels take a second each, so the short form has one of each kind.
  const sized = [
    [{ aspect_ratio: "1:1" }, "1024x1024"],
    [{ aspect_ratio: "1:1", image_size: "2K" }, "2048x2048"],
    [{ aspect_ratio: "3:2" }, "1536x1024"],
    [{ aspect_ratio: "2:3", image_size: "1K" }, "1024x1536"],
    [{ aspect_ratio: "16:9" }, "2048x1152"],
    [{ aspect_ratio: "16:9", image_size: "4K" }, "3840x2160"],
    [{ aspect_ratio: "9:16" }, "2160x3840"],
    [{ size: "1280x720" }, "1280x720"],
  ] satisfies [Fields, string][];
  it.each(shareOfRows(sized, 1))("image-model-b: %j becomes %s", async (fields, size) => {
    const { task, sent } = await bench.run({
      model: "sandbox/image-model-b",
      output_format: "jpeg",
      ...fields,
    });
    expect("notes" in task).toBe(false);
    expect(sent.body).toMatchObject({ size });
    expect(await shapesOf(task)).toEqual([`${size} jpeg`]);
  });

  it("image-model-b: a ratio and tier without a common size are dropped with notes, and so are input_fidelity and moderation", async () => {
    const givenFields = {
      aspect_ratio: "3:2",
      image_size: "4K",
      input_fidelity: "high",
      moderation: "low",
    };
    const { task, sent } = await bench.run({ model: "sandbox/image-model-b", ...givenFields });
    expect(task.notes!.map((note) => note.split(":")[0])).toEqual(Object.keys(givenFields));
    expect(sent.body).toMatchObject({ size: "auto" });
    for (const name of ["input_fidelity", "moderation"]) expect(sent.body).not.toHaveProperty(name);
  });

  const custom = ["sandbox/image-model-b", "sandbox/image-model-c"];
  const limits = ["3840x2160", "2160x3840", "512x1536", "1536x512"];
  it.each(custom)("LIM-07: %s accepts sizes up to its limits", async (name) => {
    for (const size of shareOfRows(limits, custom.indexOf(name))) {
      const { task } = await bench.run({ model: name, size });
      expect([task.notes, await shapesOf(task)]).toEqual([undefined, [`${size} png`]]);
    }
  });

  it.each(custom)("LIM-07: %s refuses sizes beyond its limits", async (name) => {
    for (const size of [
      "1032x1024",
      "1024x1032",
      "1552x512",
      "512x1552",
      "3856x2160",
      "3840x2176",
      "4096x1024",
      "0x0",
      "big",
    ])
      expect(await bench.refusal({ model: name, size })).toBe("invalid_value size");
  });

  it("LIM-04: image-model-b accepts sixteen pictures of up to 25 MB, and refuses seventeen and one byte more", async () => {
    const image = await plain();
    const sixteen = Array.from({ length: 16 }, () => image);
    const b = { model: "sandbox/image-model-b" };
    const { sent } = await bench.run(b, { files: { "image[]": sixteen } });
    expect(sent.body["image[]"]).toHaveLength(16);
    const largest = { image: padded(image, 25_000_000) };
    expect((await bench.run(b, { files: largest })).sent.body["image"]).toMatchObject({
      bytes: 25_000_000,
    });
    expect(await bench.refusal(b, { files: { image: padded(image, 25_000_001) } })).toBe(
      "image_too_large image",
    );
    expect(await bench.refusal(b, { files: { image: [...sixteen, image] } })).toBe(
      "too_many_images image",
    );
  });
});

it("TASK-47: models without a submission format of their own use the unified one", async () => {
  const [image, seconds, tokens] = await Promise.all([
    run({ aspect_ratio: "4:3", image_size: "2K" }),
    bench.run({ ...video, prompt: "By the second", model: "sandbox/video-model-seconds" }),
    bench.run({ model: "sandbox/video-model-tokens", duration: 4, resolution: "720p" }),
  ]);
  expect(parametersOf(image.sent.body)).toMatchObject({ size: "2304*1728" });
  expect(parametersOf(seconds.sent.body)).toMatchObject({ duration: 2, resolution: "480P" });
  expect(tokens.sent.body).toMatchObject({ duration: 4, resolution: "720p" });
  expect(image.task.output.images).toHaveLength(1);
  for (const { task } of [seconds, tokens]) expect(task.output.videos).toHaveLength(1);
});

describe("ALIAS-07: a task that its vendor reports as UNKNOWN", () => {
  const aliasOf = async (id: string) => {
    const answer = await bench.send("GET", `/api/v1/tasks/${id}`);
    const { output } = (await answer.json()) as { output: { task_status: string; code?: string } };
    return [answer.status, output.task_status, output.code];
  };

  it("ALIAS-07: has its stored state in the alias format while it is polled", async () => {
    const { id } = await bench.create({
      model,
      prompt: `Forgotten\n#sandbox {"task_outcome": "expired"}`,
    });
    const states = new Set<unknown>();
    for (;;) {
      const [status, word, code] = await aliasOf(id);
      expect(status).toBe(200);
      states.add(word);
      if (word === "PENDING") continue;
      expect([word, code]).toEqual(["FAILED", "expired"]);
      break;
    }
    expect([...states]).toEqual(["PENDING", "FAILED"]);
  });

  it("ALIAS-07: keeps its final state after its end", async () => {
    const { task } = await run({});
    await fetch(`${bench.sandboxUrl}/__journal`, { method: "DELETE" });
    expect(await aliasOf(task.id)).toEqual([200, "SUCCEEDED", undefined]);
    expect(await bench.sentWith("/api/v1/tasks/")).toEqual([]);
  });
});
