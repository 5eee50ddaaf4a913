// Rules of image calls beyond single fields: sizes and their spellings, files, masks, and fields that depend on each other.
import { describe, expect, it } from "vitest";
import {
  errorOf,
  notesOf,
  read,
  refusalOf,
  requestOf,
  upload,
  uploads,
  url,
  type Fields,
  type More,
} from "./support.ts";

const edit: More = { form: "edits", encoding: "multipart", images: [upload()] };
const prompt = "x";

describe("custom sizes", () => {
  it.each(["1920x1088", "3072x1024", "1024x3072", "3840x2160", "2160x3840", "2880x2880", "16x16"])(
    "%s is accepted",
    (size) => {
      expect(requestOf("image-a", { prompt, size }).size).toBe(size);
      expect(requestOf("image-b", { prompt, size }, edit).size).toBe(size);
    },
  );

  it.each([
    ["1920x1080", "divisible by 16"],
    ["3088x1024", "1:3 to 3:1"],
    ["1024x3088", "1:3 to 3:1"],
    ["3856x2160", "at most 3840x2160"],
    ["3840x2176", "at most 3840x2160"],
    ["2176x3840", "at most 3840x2160"],
    ["0x0", "<width>x<height>"],
    ["1024X1024", "<width>x<height>"],
    ["1024x1024 ", "<width>x<height>"],
    ["1e3x1e3", "<width>x<height>"],
    ["9999999999999999x16", "<width>x<height>"],
  ])("%s is refused: %s", (size, why) => {
    for (const [family, more] of [
      ["image-a", {}],
      ["image-b", edit],
    ] as const) {
      const fault = errorOf(family, { prompt, size }, more);
      expect([fault.code, fault.param, fault.message.includes(why)]).toEqual([
        "invalid_value",
        "size",
        true,
      ]);
    }
  });
});

it("a refused size is told to be auto only in families that have it", () => {
  const image = { prompt, size: "auto" };
  expect(requestOf("image-a", image).size).toBe("auto");
  expect(errorOf("image-c", image).message).toBe('size: must be <width>x<height>, not "auto".');
  expect(errorOf("image-a", { prompt, size: "large" }).message).toBe(
    'size: must be auto or <width>x<height>, not "large".',
  );
});

describe("aspect_ratio and image_size instead of size", () => {
  it.each([
    ["16:9", "4K", "3840x2160"],
    ["9:16", "4K", "2160x3840"],
    ["1:1", "2K", "2048x2048"],
    ["16:9", "2K", "2048x1152"],
    ["1:1", "1K", "1024x1024"],
    ["3:2", "1K", "1536x1024"],
    ["2:3", "1K", "1024x1536"],
  ])("image-b: %s at %s is %s", (ratio, tier, size) => {
    const request = requestOf("image-b", { prompt, aspect_ratio: ratio, image_size: tier }, edit);
    expect(request.size).toBe(size);
    expect(request).not.toHaveProperty("aspectRatio");
  });

  it.each([
    ["9:16", "2K"],
    ["16:9", "1K"],
    ["3:2", "4K"],
  ])("image-b: %s at %s has no listed size, and is dropped with notes", (ratio, tier) => {
    const { request, notes } = read(
      "image-b",
      { prompt, aspect_ratio: ratio, image_size: tier },
      edit,
    );
    expect(request.size).toBe("auto");
    expect(notes.map(({ param, kind }) => [param, kind])).toEqual([
      ["aspect_ratio", "dropped"],
      ["image_size", "dropped"],
    ]);
  });

  it.each(["image-b", "task-image-2", "image-c"] as const)(
    "%s: size wins over aspect_ratio, which is dropped with a note",
    (family) => {
      const fields = { prompt, size: "1024x1536", aspect_ratio: "1:1" };
      const { request, notes } = read(family, fields);
      expect(request.size).toBe("1024x1536");
      expect(notes).toEqual([
        { param: "aspect_ratio", kind: "dropped", detail: "size wins, dropped" },
      ]);
    },
  );

  it("image-b: a tier without a ratio is square", () => {
    expect(requestOf("image-b", { prompt, image_size: "2K" }, edit).size).toBe("2048x2048");
  });

  it.each(["2K", "4K"])("task-image-2: %s becomes 1K with a note", (tier) => {
    const { request, notes } = read("task-image-2", {
      prompt,
      aspect_ratio: "3:2",
      image_size: tier,
    });
    expect(request.size).toBe("1536x1024");
    expect(notes).toMatchObject([{ param: "image_size", kind: "rewritten" }]);
  });

  it.each([
    [{ aspect_ratio: "16:9", image_size: "2K" }, "2560x1440", "2K"],
    [{ image_size: "4K" }, "2880x2880", "4K"],
    [{}, "1024x1024", "1K"],
    [{ size: "1328x1328" }, "1328x1328", "1K"],
    [{ size: "2048x2048" }, "2048x2048", "2K"],
    [{ size: "3840x2160" }, "3840x2160", "4K"],
  ])("image-c: %j becomes %s, priced as %s", (fields, size, tier) => {
    expect(requestOf("image-c", { prompt, ...fields })).toMatchObject({ size, imageSize: tier });
  });

  it("image-c: callers may ask for every size of its own table", () => {
    for (const ratio of ["1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16"]) {
      for (const tier of ["1K", "2K", "4K"]) {
        const made = requestOf("image-c", { prompt, aspect_ratio: ratio, image_size: tier });
        expect(requestOf("image-c", { prompt, size: made.size })).toMatchObject({
          size: made.size,
          imageSize: tier,
        });
      }
    }
  });
});

describe("task-image-1", () => {
  it.each([
    "size",
    "background",
    "output_format",
    "output_compression",
    "input_fidelity",
    "seed",
    "mask",
  ])("%s is dropped with an explanation", (name) => {
    const { request, notes } = read("task-image-1", { prompt, [name]: "x" });
    expect(notes).toMatchObject([{ param: name, kind: "dropped" }]);
    expect(request).toEqual(requestOf("task-image-1", { prompt }));
  });

  it("a mask file is dropped with an explanation", () => {
    const more = { images: [upload()], mask: upload() };
    const { request, notes } = read("task-image-1", { prompt }, more);
    expect(request).not.toHaveProperty("mask");
    expect(notes).toMatchObject([{ param: "mask", kind: "dropped" }]);
  });

  it("style is dropped without a note", () => {
    expect(notesOf("task-image-1", { prompt, style: "vivid" })).toEqual([]);
  });

  it("quality auto is sent as low", () => {
    expect(requestOf("task-image-1", { prompt, quality: "auto" }).quality).toBe("low");
  });

  it("five images of 25 MiB are accepted, up to 48 MB together in base64", () => {
    const mebibyte = 1024 * 1024;
    const of = (count: number, bytes: number): [Fields, More] => [
      { prompt },
      { images: uploads(count, { bytes }) },
    ];
    expect(requestOf("task-image-1", ...of(5, 1000)).images).toHaveLength(5);
    expect(refusalOf("task-image-1", ...of(6, 1000))).toBe("too_many_images image");
    requestOf("task-image-1", ...of(1, 25 * mebibyte));
    expect(refusalOf("task-image-1", ...of(1, 25 * mebibyte + 1))).toBe("image_too_large image");
    requestOf("task-image-1", ...of(2, 16 * mebibyte));
    expect(refusalOf("task-image-1", ...of(2, 20 * mebibyte))).toBe("image_too_large image");
    requestOf("task-image-1", ...of(2, 18_000_000));
    expect(refusalOf("task-image-1", ...of(2, 18_000_001))).toBe("image_too_large image");
  });
});

it("image-c accepts nine images, and refuses ten", () => {
  expect(requestOf("image-c", { prompt }, { images: uploads(9) }).images).toHaveLength(9);
  expect(refusalOf("image-c", { prompt }, { images: uploads(10) })).toBe("too_many_images image");
});

const referencing: (readonly ["image-a" | "image-b" | "task-image-2", More])[] = [
  ["image-a", edit],
  ["image-b", edit],
  ["image-b", { form: "tasks", images: [upload()] }],
  ["task-image-2", { images: [upload()] }],
];

describe.each(referencing)("files of %s (%j)", (family, more) => {
  it("are accepted up to sixteen, with up to 25 MB each", () => {
    const files = (images: More["images"]): [Fields, More] => [{ prompt }, { ...more, images }];
    expect(requestOf(family, ...files(uploads(16, { bytes: 25_000_000 }))).images).toHaveLength(16);
    expect(refusalOf(family, ...files(uploads(17)))).toBe("too_many_images image");
    const large = [upload(), upload({ bytes: 25_000_001 })];
    expect(refusalOf(family, ...files(large))).toBe("image_too_large image");
  });

  it.each(["image", "image[]", "mask"])("%s must be a file, not a text", (name) => {
    const call = { prompt, [name]: url };
    expect(refusalOf(family, call, more)).toBe(`image_url_not_supported ${name}`);
  });

  it("the mask must be a PNG with alpha below 4 MB, as large as the first image", () => {
    const images = [upload(), upload({ width: 10, height: 10 })];
    const mask = upload({ bytes: 3_999_999 });
    expect(requestOf(family, { prompt }, { ...more, images, mask }).mask).toEqual(mask);
    for (const [change, code] of [
      [{ mediaType: "image/webp" }, "invalid_image_file"],
      [{ hasAlpha: false }, "invalid_image_file"],
      [{ width: 65 }, "invalid_image_file"],
      [{ height: 33 }, "invalid_image_file"],
      [{ bytes: 4_000_000 }, "image_too_large"],
    ] as const) {
      const refusal = refusalOf(family, { prompt }, { ...more, images, mask: upload(change) });
      expect([change, refusal]).toEqual([change, `${code} mask`]);
    }
  });
});

describe("a call without an image", () => {
  it.each(["image-a", "image-b"] as const)(
    "is refused as an edit of %s, with and without a mask",
    (family) => {
      const none = { ...edit, images: [] };
      expect(refusalOf(family, { prompt }, none)).toBe("missing_required_parameter image");
      expect(refusalOf(family, { prompt }, { ...none, mask: upload() })).toBe(
        "missing_required_parameter image",
      );
    },
  );

  it.each(["image-b", "task-image-2"] as const)(
    "is a generation as a task of %s, and a mask is dropped with a note",
    (family) => {
      expect(requestOf(family, { prompt }).images).toEqual([]);
      const { request, notes } = read(family, { prompt }, { mask: upload({ hasAlpha: false }) });
      expect(request).not.toHaveProperty("mask");
      expect(notes.map(({ param }) => param)).toEqual(["mask"]);
    },
  );

  it.each(["image-b", "task-image-2"] as const)(
    "is refused with a text as the mask of %s",
    (family) => {
      expect(refusalOf(family, { prompt, mask: url })).toBe("image_url_not_supported mask");
    },
  );
});

describe("fields that depend on each other", () => {
  it.each([
    ["image-b", { background: "transparent", output_format: "jpeg" }, "invalid_value background"],
    [
      "task-image-2",
      { background: "transparent", output_format: "jpeg" },
      "invalid_value background",
    ],
    ["image-b", { stream: "true", n: "2" }, "n_must_be_one_when_streaming n"],
  ] as const)("%s refuses %j: %s", (family, fields, refusal) => {
    const more = family === "image-b" ? edit : { encoding: "multipart" as const };
    expect(refusalOf(family, { prompt, ...fields }, more)).toBe(refusal);
  });

  it("a streamed generation makes only one picture", () => {
    expect(refusalOf("image-a", { prompt, stream: true, n: 2 })).toBe(
      "n_must_be_one_when_streaming n",
    );
    expect(requestOf("image-a", { prompt, stream: true, n: 1 }).stream).toBe(true);
  });

  it.each(["png", "webp"])("transparent %s is accepted", (format) => {
    const fields = { prompt, background: "transparent", output_format: format };
    expect(requestOf("image-b", fields, edit)).toMatchObject({ background: "transparent" });
  });

  it("output_compression is sent with lossy formats only", () => {
    const given = { prompt, output_compression: 80 };
    expect(requestOf("image-a", { ...given, output_format: "jpeg" }).outputCompression).toBe(80);
    expect(requestOf("image-a", { prompt, output_format: "jpeg" }).outputCompression).toBe(100);
    expect(requestOf("image-a", { prompt })).not.toHaveProperty("outputCompression");
    const { request, notes } = read("image-a", given);
    expect(request).not.toHaveProperty("outputCompression");
    expect(notes).toMatchObject([{ param: "output_compression", kind: "ignored" }]);
  });

  it("partial_images without a stream is ignored with a note", () => {
    expect(notesOf("image-a", { prompt, partial_images: 2 })).toEqual([
      "partial_images: no effect without stream, ignored",
    ]);
    expect(requestOf("image-a", { prompt, partial_images: 2, stream: true }).partialImages).toBe(2);
  });

  it("input_fidelity is only for edits, and moderation only for generations (task-image-2)", () => {
    const images = [upload()];
    expect(requestOf("task-image-2", { prompt }, { images }).inputFidelity).toBe("low");
    expect(notesOf("task-image-2", { prompt, input_fidelity: "high" })).toEqual([
      "input_fidelity: applies to edits only, dropped",
    ]);
    expect(notesOf("task-image-2", { prompt, moderation: "low" }, { images })).toEqual([
      "moderation: not supported with reference images, dropped",
    ]);
    expect(
      read("task-image-2", { prompt, moderation: "low" }, { images }).request,
    ).not.toHaveProperty("moderation");
  });

  it("input_fidelity is dropped with a note on form 2", () => {
    const { request, notes } = read("image-b", { prompt, input_fidelity: "high" }, edit);
    expect(request).not.toHaveProperty("inputFidelity");
    expect(notes).toMatchObject([{ param: "input_fidelity", kind: "dropped" }]);
  });

  it("form 1 refuses stream like any field that it does not have", () => {
    expect(refusalOf("image-a", { prompt, stream: "true" }, edit)).toBe("unknown_parameter stream");
  });

  it.each(["image-b", "task-image-1", "task-image-2", "image-c"] as const)(
    "a task of %s refuses streaming, and accepts fields that ask for none",
    (family) => {
      const more = { encoding: "multipart" } as const;
      requestOf(family, { prompt, stream: "false", partial_images: "0" }, more);
      expect(refusalOf(family, { prompt, stream: "true" }, more)).toBe(
        "streaming_not_supported stream",
      );
      expect(refusalOf(family, { prompt, partial_images: "1" }, more)).toBe(
        "streaming_not_supported partial_images",
      );
    },
  );
});
