// Input pictures under the names of other vendors' endpoints and SDKs: refused, because without them the result would be another.
import { describe, expect, it } from "vitest";
import { errorOf, frame, notesOf, refusalOf, upload, url, type FamilyName } from "./support.ts";

const prompt = "x";

/** As Ark, Together, fal, xAI, FLUX, Stability and others name it. */
const names: readonly (readonly [name: string, value: unknown])[] = [
  ["image", url],
  ["image[]", url],
  ["image", { url }],
  ["image2", url],
  ["images", [{ image_url: url }]],
  ["image_url", url],
  ["image_urls", [url]],
  ["image_prompt", "aGVsbG8="],
  ["image_input", [url]],
  ["input_image", "aGVsbG8="],
  ["input_image_2", "aGVsbG8="],
  ["input_images", [url]],
  ["init_image", url],
  ["reference_images", [frame]],
  ["reference_image_urls", [url]],
  ["image_list", [{ image: url }]],
  ["subject_reference", [{ type: "character", image_file: url }]],
];

describe("an input picture of a generation", () => {
  it.each([...names, ["mask", url], ["mask_url", url]] as const)(
    "is refused as %s: %j, and the message names the place of edits",
    (name, value) => {
      const { code, param, message } = errorOf("image-a", { prompt, [name]: value });
      expect([code, param]).toEqual(["unsupported_parameter", name]);
      expect(message).toContain("POST /v1/images/edits");
    },
  );

  it.each([
    ["image_url", ""],
    ["image_urls", []],
    ["images", 2],
    ["image", false],
    ["image_style", "dark"],
    ["image_prompt_strength", "0.5"],
    ["imagery", "dark"],
  ])("is not %s: %j, which is dropped with a note", (name, value) => {
    expect(notesOf("image-a", { prompt, [name]: value })).toEqual([
      `${name}: not supported by this model, dropped`,
    ]);
  });

  it.each(["image", "image_url", "mask"])("is absent if %s is null", (name) => {
    expect(notesOf("image-a", { prompt, [name]: null })).toEqual([]);
  });
});

describe("an input picture of an edit or an image task", () => {
  const calls = [
    ["image-a", "edits"],
    ["image-b", "edits"],
    ["image-b", "tasks"],
    ["image-c", "tasks"],
    ["task-image-1", "tasks"],
    ["task-image-2", "tasks"],
  ] as const;

  it.each(calls.flatMap(([family, form]) => names.map((name) => [family, form, ...name] as const)))(
    "is refused by %s %s as %s: %j, with and without a file",
    (family, form, name, value) => {
      const call = { prompt, [name]: value };
      for (const images of form === "edits" ? [[upload()]] : [[], [upload()]]) {
        const { code, param, message } = errorOf(family, call, { form, images });
        expect([code, param]).toEqual(["image_url_not_supported", name]);
        expect(message).toContain("must be a file of a multipart body");
      }
    },
  );

  it("is none as the mask_url of task-image-1, which has no masks and notes it", () => {
    expect(notesOf("task-image-1", { prompt, mask_url: url })).toEqual([
      "mask_url: not supported by this model, dropped",
    ]);
    expect(refusalOf("task-image-2", { prompt, mask_url: url })).toBe(
      "image_url_not_supported mask_url",
    );
  });
});

describe("an input picture of a video under another name", () => {
  const videos: readonly FamilyName[] = ["video-v1", "video-v1.5", "video-seconds", "video-tokens"];
  const others = names.filter(([name]) => name !== "image" && name !== "reference_images");
  const more = [
    ["first_frame", { url }],
    ["first_frame_image", url],
    ["start_image_url", url],
    ["tail_image_url", url],
    ["image_tail", url],
    ["input_reference", url],
  ] as const;

  it.each(
    videos.flatMap((family) => [...others, ...more].map((name) => [family, ...name] as const)),
  )(
    "is refused by %s as %s: %j, and the message names the fields of material",
    (family, name, value) => {
      const { code, param, message } = errorOf(family, { prompt, [name]: value });
      expect([code, param]).toEqual(["unsupported_parameter", name]);
      expect(message).toContain("send image, last_frame or reference_images");
    },
  );

  it("is refused as media by the native form, whose answer has no notes", () => {
    const media = [{ type: "first_frame", url }];
    expect(refusalOf("video-v1", { prompt, media }, { form: "videos" })).toBe(
      "unsupported_parameter media",
    );
  });
});
