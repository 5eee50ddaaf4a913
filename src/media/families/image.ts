/** Common parts of the image families. Requirements: IMG, EDIT1, EDIT2, TIMG1, TIMG2, LIM. */
import type { Field, FileLimits, MediaFamily } from "../family.ts";

export const daySeconds = 86_400;
const promptCharactersMax = 32_000;

export const prompt: Field = {
  name: "prompt",
  domain: { type: "string" },
  required: true,
  meaning: "what to make or change",
};

export const boundedPrompt: Field = {
  ...prompt,
  domain: { type: "string", max: promptCharactersMax },
};

export const n: Field = {
  name: "n",
  domain: { type: "integer", min: 1, max: 10 },
  default: 1,
  meaning: "how many images",
};

export const presetSizes = ["1024x1024", "1536x1024", "1024x1536", "auto"] as const;

export const customSize: Field = {
  name: "size",
  domain: { type: "size", presets: presetSizes, custom: true },
  default: "auto",
  meaning:
    "`<width>x<height>`: sides divisible by 16, ratio 1:3 to 3:1, at most 3840x2160 or 2160x3840",
};

const choice = (name: string, values: readonly string[], meaning: string): Field => ({
  name,
  domain: { type: "enum", values },
  default: values.at(-1)!,
  meaning,
});

export const quality = choice("quality", ["low", "medium", "high", "auto"], "the quality tier");

export const background = (values: readonly string[]): Field =>
  choice("background", values, "the background; transparency requires png or webp");

export const outputFormat = (values: readonly string[]): Field => ({
  ...choice("output_format", values, "the format of the files"),
  default: "png",
});

/** `textToo` for form 2 and its sibling, where it may be text (TIMG2-24); elsewhere it is a number (IMG-15). */
export const outputCompression = (formats: string, { textToo = false } = {}): Field => ({
  name: "output_compression",
  domain: { type: "integer", min: 0, max: 100, textToo },
  default: 100,
  meaning: `only for ${formats}`,
});

export const user: Field = {
  name: "user",
  domain: { type: "string" },
  meaning: "your end user, best as a hash",
};

/** The streaming fields; only synchronous endpoints stream. */
export const streaming = {
  stream: {
    name: "stream",
    forms: ["images", "edits"],
    domain: { type: "boolean", textToo: true },
    default: false,
    meaning: "true: the answer is a stream of events; `n` must be 1",
  },
  partialImages: {
    name: "partial_images",
    forms: ["images", "edits"],
    domain: { type: "integer", min: 0, max: 3, textToo: true },
    default: 0,
    meaning: "previews while streaming",
  },
} as const satisfies MediaFamily["fields"];

/** The effects of shared rules, as sentences. */
export const remarks = {
  compression: "`output_compression` of a png has no effect, and is noted.",
  transparency: "`background: transparent` with `output_format: jpeg` is refused.",
  streaming:
    "A stream has one image: `stream` with `n` above 1 is refused. `partial_images` without `stream` is noted.",
  sizeWins: "With `size`, `aspect_ratio` and `image_size` are dropped with a note.",
};

/** Limits of the reference images in all families but task-image-1 (LIM-04). */
export const referenceFiles: FileLimits = { most: 16, bytesMost: 25_000_000, mask: true };
