// The fields of edit form 2 on /v1/tasks, at the two models that have them: as JSON, and as a form with a picture.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shareOfRows } from "../support/long.ts";
import { plain, shapesOf, startImages, type Fields, type ImageBench } from "./support.ts";

let bench: ImageBench;
beforeAll(async () => {
  bench = await startImages();
});
afterAll(() => bench?.close());

const models = ["task-image-model-2", "image-model-b"] as const;
const encodings = ["JSON", "a form with a picture"] as const;
type Encoding = (typeof encodings)[number];

const optionsOf = async (encoding: Encoding) => ({
  form: encoding !== "JSON",
  ...(encoding === "a form with a picture" && { files: { image: await plain() } }),
});

const defaults = { n: 1, size: "auto", quality: "auto", background: "auto", output_format: "png" };
/** Fields as texts, as in the vendor's form. */
const asTexts = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

/** The vendor checks all fields, but its filter blocks the task before it paints a picture, which would take most of the time. */
const blockedByFilter = { task_outcome: "blocked" };

/** The caller's fields, and the vendor's fields besides the defaults. `undefined`: not sent. */
const acceptedRows: readonly (readonly [ids: string, said: Fields, asSent: Fields])[] = [
  ["TIMG2-10 LIM-02", { n: 10, quality: "low" }, { n: 10, quality: "low" }],
  ["TIMG2-11", { size: "auto" }, { size: "auto" }],
  ["TIMG2-11", { size: "1024x1024" }, { size: "1024x1024" }],
  ["TIMG2-11", { size: "1536x1024" }, { size: "1536x1024" }],
  ["TIMG2-11", { size: "1024x1536" }, { size: "1024x1536" }],
  ["TIMG2-14", { aspect_ratio: "1:1" }, { size: "1024x1024" }],
  ["TIMG2-14", { aspect_ratio: "3:2" }, { size: "1536x1024" }],
  ["TIMG2-14", { aspect_ratio: "2:3" }, { size: "1024x1536" }],
  ["TIMG2-16", { aspect_ratio: "3:2", image_size: "1K" }, { size: "1536x1024" }],
  ["TIMG2-16", { image_size: "1K" }, { size: "1024x1024" }],
  ["TIMG2-19", { quality: "low" }, { quality: "low" }],
  ["TIMG2-19", { quality: "medium" }, { quality: "medium" }],
  ["TIMG2-19", { quality: "high" }, { quality: "high" }],
  ["TIMG2-19", { quality: "auto" }, { quality: "auto" }],
  ["TIMG2-20", { background: "transparent" }, { background: "transparent" }],
  ["TIMG2-20", { background: "opaque" }, { background: "opaque" }],
  ["TIMG2-20", { background: "auto" }, { background: "auto" }],
  ["TIMG2-22", { output_format: "png" }, { output_format: "png" }],
  [
    "TIMG2-22 TIMG2-23 LIM-03",
    { output_format: "jpeg" },
    { output_format: "jpeg", output_compression: 100 },
  ],
  [
    "TIMG2-22 TIMG2-23 LIM-03",
    { output_format: "webp" },
    { output_format: "webp", output_compression: 100 },
  ],
  [
    "TIMG2-23 TIMG2-24",
    { output_format: "jpeg", output_compression: "80" },
    { output_format: "jpeg", output_compression: 80 },
  ],
  [
    "TIMG2-24",
    { output_format: "webp", output_compression: 80 },
    { output_format: "webp", output_compression: 80 },
  ],
  [
    "LIM-03",
    { output_format: "jpeg", output_compression: 0 },
    { output_format: "jpeg", output_compression: 0 },
  ],
  ["TIMG2-27", { user: "someone" }, { user: "someone" }],
];

/** Accepted requests with notes, by the names of the fields. */
const acceptedWithNotes: readonly (readonly [
  ids: string,
  said: Fields,
  asSent: Fields,
  notes: string[],
])[] = [
  [
    "TIMG2-15",
    { size: "1024x1536", aspect_ratio: "3:2", image_size: "1K" },
    { size: "1024x1536" },
    ["aspect_ratio", "image_size"],
  ],
  [
    "TIMG2-23",
    { output_compression: 80 },
    { output_compression: undefined },
    ["output_compression"],
  ],
  ["ERR-12", { foo: 1, style: "vivid", seed: 7 }, { foo: undefined }, ["foo", "style", "seed"]],
];

const refused: readonly (readonly [ids: string, said: Fields, wanted: string])[] = [
  ["TIMG2-10 LIM-02", { n: 11 }, "integer_above_max_value n"],
  ["TIMG2-10 LIM-02", { n: 0 }, "integer_below_min_value n"],
  ["TIMG2-02", { prompt: "" }, "missing_required_parameter prompt"],
  ["", { image_size: "8K" }, "invalid_value image_size"],
  ["", { quality: "best" }, "invalid_value quality"],
  ["", { background: "none" }, "invalid_value background"],
  ["", { output_format: "gif" }, "invalid_value output_format"],
  ["TIMG2-21", { background: "transparent", output_format: "jpeg" }, "invalid_value background"],
  [
    "TIMG2-24 LIM-03",
    { output_format: "jpeg", output_compression: 101 },
    "integer_above_max_value output_compression",
  ],
  [
    "TIMG2-24 LIM-03",
    { output_format: "jpeg", output_compression: "101" },
    "integer_above_max_value output_compression",
  ],
  [
    "LIM-03",
    { output_format: "jpeg", output_compression: -1 },
    "integer_below_min_value output_compression",
  ],
  ["", { output_compression: "eighty" }, "invalid_type output_compression"],
  ["", { stream: true }, "streaming_not_supported stream"],
  ["", { partial_images: 2 }, "streaming_not_supported partial_images"],
];

describe.each(models)("sandbox/%s", (name) => {
  const model = `sandbox/${name}`;

  describe.each(encodings)("a task submitted as %s", (encoding) => {
    // The short form splits the rows between the two models, and between form and JSON.
    const place = models.indexOf(name) + encodings.indexOf(encoding);
    const edits = encoding === "a form with a picture";
    const asSent = (fields: Fields) => (edits ? asTexts(fields) : fields);
    const expectSent = (body: Fields, fields: Fields) => {
      for (const [field, value] of Object.entries(fields))
        if (value === undefined) expect(body).not.toHaveProperty(field);
        else expect(body).toMatchObject(asSent({ [field]: value }));
    };

    it("TIMG2-10 TIMG2-12 TIMG2-19 TIMG2-20 TIMG2-22: reaches the vendor with the defaults of its omitted fields", async () => {
      const { task, sent } = await bench.run({ model }, await optionsOf(encoding));
      const { image, prompt, input_fidelity: fidelity, ...rest } = sent.body;
      expect("notes" in task).toBe(false);
      expect(sent.path).toBe(`/openai/v1/images/${edits ? "edits" : "generations"}`);
      expect(rest).toEqual({ model: name, ...asSent(defaults) });
      expect(prompt).toMatch(/^boat /);
      expect([image !== undefined, fidelity]).toEqual([
        edits,
        edits && name === "task-image-model-2" ? "low" : undefined,
      ]);
      const [shape] = await shapesOf(task);
      expect(shape).toMatch(/ png$/);
    });

    it.each(shareOfRows(acceptedRows, place))(
      "%s: %j reaches the vendor",
      async (_ids, said, wanted) => {
        const options = {
          ...(await optionsOf(encoding)),
          ...(edits && { script: blockedByFilter }),
        };
        const { task, sent } = await bench.run({ model, quality: "low", ...said }, options);
        expect(task.error?.code).toBe(edits ? "content_policy_violation" : undefined);
        expect("notes" in task).toBe(false);
        expectSent(sent.body, wanted);
      },
    );

    it.each(acceptedWithNotes)(
      "%s: %j is accepted with a note",
      async (_ids, said, wanted, notes) => {
        const { task, sent } = await bench.run({ model, ...said }, await optionsOf(encoding));
        expect(task.status).toBe("succeeded");
        expect(task.notes!.map((note) => note.split(":")[0])).toEqual(notes);
        for (const note of task.notes!) expect(note).toMatch(/^\w+: .{8,}/);
        expectSent(sent.body, wanted);
      },
    );

    it.each(shareOfRows(refused, place))("%s: %j is refused", async (_ids, said, wanted) => {
      expect(await bench.refusal({ model, ...said }, await optionsOf(encoding))).toBe(wanted);
    });
  });

  it("TASK-02: a form without a picture passes all fields of form 2 on to a generation", async () => {
    const fields = {
      n: "2",
      size: "1536x1024",
      quality: "medium",
      background: "opaque",
      output_format: "webp",
      output_compression: "70",
      user: "someone",
    };
    const { task, sent } = await bench.run({ model, ...fields, stream: "false" }, { form: true });
    expect([task.status, task.notes, sent.path]).toEqual([
      "succeeded",
      undefined,
      "/openai/v1/images/generations",
    ]);
    expect(sent.body).toMatchObject({ ...fields, n: 2, output_compression: 70 });
  });

  it("a field with null is treated as omitted", async () => {
    const nothing = Object.fromEntries(Object.keys(defaults).map((field) => [field, null]));
    const { task, sent } = await bench.run({ model, ...nothing, user: null, mask: null });
    expect("notes" in task).toBe(false);
    expect(sent.body).toEqual({ model: name, prompt: expect.any(String) as string, ...defaults });
  });

  it.each(["png", "jpeg", "webp"])(
    "TIMG2-22: %s as output_format is the format of the files",
    async (format) => {
      const fields = { model, output_format: format, size: "1536x1024", n: 2 };
      const { task } = await bench.run(fields);
      expect(await shapesOf(task)).toEqual([`1536x1024 ${format}`, `1536x1024 ${format}`]);
    },
  );

  it("TIMG2-01 TIMG2-02: model and prompt are required", async () => {
    for (const [body, param] of [
      [{ prompt: "x" }, "model"],
      [{ model }, "prompt"],
    ] as const) {
      const answer = await bench.send("POST", "/v1/tasks", { body });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        error: { code: "missing_required_parameter", param },
      });
    }
  });
});

describe("an unlisted aspect ratio", () => {
  const fields = { aspect_ratio: "7:5" };

  it("TIMG2-18: is dropped with a note by task-image-2", async () => {
    const { task, sent } = await bench.run({ model: "sandbox/task-image-model-2", ...fields });
    expect(task.notes).toEqual([expect.stringMatching(/^aspect_ratio: /)]);
    expect(sent.body).toMatchObject({ size: "auto" });
  });

  it("EDIT2-16 ERR-13: is refused by image-b", async () => {
    const refusal = await bench.refusal({ model: "sandbox/image-model-b", ...fields });
    expect(refusal).toBe("invalid_value aspect_ratio");
  });
});
