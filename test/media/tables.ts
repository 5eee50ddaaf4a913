// The valid values, the invalid values and the default of each field of each family: from the requirements, not from the
// families' own data.
import { frame, frames, url, type Fields } from "./support.ts";

/** The outcome of an invalid value. */
export type Outcome = "dropped" | "forwarded" | `${string}_${string}`;

export interface Row {
  /** The key of the value in the request. `sent` has the values there; by default they are as given. */
  readonly key: string;
  readonly valid: readonly unknown[];
  readonly sent?: readonly unknown[];
  readonly bad: readonly (readonly [unknown, Outcome])[];
  /** The value in the request if the caller gives none. Absent: no value. */
  readonly default?: unknown;
  /** Other fields that must be given for this one to count. */
  readonly beside?: Fields;
  readonly images?: boolean;
}
type Table = Record<string, Row>;

const booleanRow = (key: string, byDefault?: boolean): Row => ({
  key,
  valid: [true, false],
  bad: [
    ["true", "invalid_type"],
    [1, "invalid_type"],
  ],
  default: byDefault,
});
const integerRow = (key: string, min: number, max: number, byDefault?: number): Row => ({
  key,
  valid: [min, max],
  bad: [
    [min - 1, "integer_below_min_value"],
    [max + 1, "integer_above_max_value"],
    [min + 0.5, "invalid_type"],
    [String(min), "invalid_type"],
    [Number.NaN, "invalid_type"],
  ],
  default: byDefault,
});
const enumRow = (key: string, values: readonly string[], byDefault?: string): Row => ({
  key,
  valid: values,
  bad: [
    ["no-such-value", "invalid_value"],
    [values[0]!.toUpperCase() + values[0]!.toLowerCase(), "invalid_value"],
    [7, "invalid_type"],
    [[values[0]], "invalid_type"],
  ],
  default: byDefault,
});
const textRow = (key: string): Row => ({
  key,
  valid: ["some text"],
  bad: [
    [7, "invalid_type"],
    [{}, "invalid_type"],
  ],
});

const sixteenRatios =
  "1:1 4:3 3:4 3:2 2:3 16:9 9:16 2:1 1:2 21:9 5:2 19.5:9 9:19.5 20:9 9:20 auto".split(" ");
const ratios = ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"];
const pictureRow = (key: string): Row => ({
  key,
  valid: [
    { url: "data:image/png;base64,AAAA" },
    { url: "data:image/jpg;base64,AAAA" },
    { url: "http://example.com/b.png" },
    frame,
  ],
  sent: [
    "data:image/png;base64,AAAA",
    "data:image/jpeg;base64,AAAA",
    "http://example.com/b.png",
    url,
  ],
  bad: [
    [url, "media_must_be_object"],
    [{}, "missing_required_parameter"],
    [{ url: 7 }, "invalid_type"],
    [{ url: "ftp://example.com/a.png" }, "invalid_value"],
    [{ url: "data:text/html;base64,AAAA" }, "invalid_value"],
    [{ url: "https://" }, "invalid_value"],
    [[frame], "invalid_type"],
  ],
});
const video = (resolutions: readonly string[], ratioValues: readonly string[] = ratios): Table => ({
  prompt: { ...textRow("prompt"), beside: { image: frame } },
  duration: {
    ...integerRow("durationSeconds", 1, 15, 8),
    bad: [
      [0, "integer_below_min_value"],
      [16, "duration_above_max"],
      [1.5, "invalid_type"],
      ["8", "invalid_type"],
    ],
  },
  aspect_ratio: enumRow("aspectRatio", ratioValues, "16:9"),
  resolution: {
    ...enumRow("resolution", resolutions, "480p"),
    bad: [
      ["2160p", "resolution_not_supported"],
      [480, "invalid_type"],
    ],
  },
  image: pictureRow("firstFrame"),
  last_frame: { ...pictureRow("lastFrame"), beside: { image: frame } },
  reference_images: {
    key: "references",
    valid: [[], frames(1), frames(14)],
    sent: [[], [url], Array.from({ length: 14 }, () => url)],
    bad: [
      [frames(15), "too_many_images"],
      [frame, "invalid_type"],
      [[url], "media_must_be_object"],
      [[frame, { uri: url }], "missing_required_parameter"],
    ],
    default: [],
  },
  user: textRow("user"),
});
const media: Row = {
  key: "references",
  valid: [[], [{ type: "reference_image", url }]],
  sent: [[], [url]],
  bad: [
    [url, "invalid_type"],
    [[url], "media_must_be_object"],
    [[7], "invalid_type"],
    [[{ url }], "missing_required_parameter"],
    [[{ type: "audio", url }], "invalid_value"],
    [[{ type: "first_frame" }], "missing_required_parameter"],
  ],
  default: [],
};

const qualities = ["low", "medium", "high", "auto"];
const size: Row = {
  key: "size",
  valid: ["auto", "1024x1024", "1536x1024", "1024x1536", "1280x720", "3840x2160", "2160x3840"],
  bad: [
    ["abc", "invalid_value"],
    ["1920x1080", "invalid_value"],
    [1024, "invalid_type"],
  ],
  default: "auto",
};
const compression: Row = {
  key: "outputCompression",
  valid: [0, "80", 100],
  sent: [0, 80, 100],
  bad: [
    [-1, "integer_below_min_value"],
    [101, "integer_above_max_value"],
    ["101", "integer_above_max_value"],
    ["eighty", "invalid_type"],
    [1.5, "invalid_type"],
  ],
  default: 100,
  beside: { output_format: "jpeg" },
};
/** Only a number is valid (IMG-15). */
const compressionNumber: Row = {
  ...compression,
  valid: [0, 80, 100],
  sent: undefined,
  bad: [
    [-1, "integer_below_min_value"],
    [101, "integer_above_max_value"],
    ["80", "invalid_type"],
    [1.5, "invalid_type"],
  ],
};
const requiredPrompt: Row = {
  key: "prompt",
  valid: ["some text"],
  bad: [
    ["", "missing_required_parameter"],
    [7, "invalid_type"],
  ],
};
const shortPrompt: Row = {
  ...requiredPrompt,
  valid: ["x".repeat(32_000), "\u{1f600}".repeat(32_000)],
  bad: [
    ...requiredPrompt.bad,
    ["x".repeat(32_001), "string_above_max_length"],
    ["\u{1f600}".repeat(32_001), "string_above_max_length"],
  ],
};
const count = integerRow("n", 1, 10, 1);
const stream: Row = { ...booleanRow("stream", false), bad: [["yes", "invalid_type"]] };
const partialImages: Row = {
  ...integerRow("partialImages", 0, 3, 0),
  bad: [
    [-1, "integer_below_min_value"],
    [4, "integer_above_max_value"],
  ],
  beside: { stream: true },
};
const imageA: Table = {
  prompt: shortPrompt,
  n: count,
  size,
  quality: enumRow("quality", qualities, "auto"),
  background: enumRow("background", ["opaque", "auto"], "auto"),
  output_format: enumRow("outputFormat", ["png", "jpeg"], "png"),
  output_compression: compressionNumber,
  moderation: enumRow("moderation", ["low", "auto"], "auto"),
  user: textRow("user"),
};
const imageBTask: Table = {
  prompt: requiredPrompt,
  n: count,
  size: { ...size, valid: [...size.valid, "2048x2048", "2048x1152"] },
  aspect_ratio: {
    key: "size",
    valid: ["1:1", "3:2", "2:3", "16:9", "9:16"],
    sent: ["1024x1024", "1536x1024", "1024x1536", "2048x1152", "2160x3840"],
    bad: [
      ["7:5", "invalid_value"],
      [1, "invalid_type"],
    ],
    default: "auto",
  },
  image_size: {
    key: "size",
    valid: ["2K", "4K"],
    sent: ["2048x1152", "3840x2160"],
    bad: [["8K", "invalid_value"]],
    default: "2048x1152",
    beside: { aspect_ratio: "16:9" },
  },
  quality: enumRow("quality", qualities, "auto"),
  background: enumRow("background", ["transparent", "opaque", "auto"], "auto"),
  output_format: enumRow("outputFormat", ["png", "jpeg", "webp"], "png"),
  output_compression: compression,
  user: textRow("user"),
};

export const tables: Record<string, Table> = {
  "video-v1 tasks": {
    ...video(["480p", "720p"]),
    media,
    audio: booleanRow("audio", true),
    moderation: enumRow("moderation", ["low", "auto", "high"]),
  },
  "video-v1 videos": {
    ...video(["480p", "720p"]),
    generate_audio: booleanRow("audio", true),
    moderation: enumRow("moderation", ["low", "auto", "high"]),
  },
  "video-v1.5 tasks": {
    ...video(["480p", "720p", "1080p"]),
    media,
    audio: booleanRow("audio", true),
    moderation: enumRow("moderation", ["low", "auto", "high"]),
  },
  "video-v1.5 videos": {
    ...video(["480p", "720p", "1080p"]),
    generate_audio: booleanRow("audio", true),
    moderation: enumRow("moderation", ["low", "auto", "high"]),
  },
  "video-seconds tasks": {
    ...video(["480p", "720p", "1080p"], ["16:9", "9:16", "1:1", "4:3", "3:4"]),
    media,
    negative_prompt: textRow("negativePrompt"),
    seed: integerRow("seed", 0, 2_147_483_647),
    watermark: booleanRow("watermark"),
  },
  "video-tokens tasks": {
    ...video(["480p", "720p", "1080p"], ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "adaptive"]),
    media,
    audio: booleanRow("audio"),
    seed: integerRow("seed", -1, 4_294_967_295),
    watermark: booleanRow("watermark"),
    camera_fixed: booleanRow("cameraFixed"),
    execution_expires_after: integerRow("expiresAfterSeconds", 3600, 259_200, 172_800),
  },
  "image-a images": { ...imageA, stream, partial_images: partialImages },
  "image-a edits": {
    ...imageA,
    input_fidelity: enumRow("inputFidelity", ["high", "low"]),
  },
  "image-b edits": { ...imageBTask, stream, partial_images: partialImages },
  "image-b tasks": imageBTask,
  "task-image-1 tasks": {
    prompt: requiredPrompt,
    n: count,
    aspect_ratio: {
      key: "aspectRatio",
      valid: sixteenRatios,
      bad: [
        ["7:5", "dropped"],
        [1, "invalid_type"],
      ],
      default: "1:1",
    },
    image_size: { ...enumRow("imageSize", ["1K", "2K"], "1K"), bad: [["4K", "invalid_value"]] },
    quality: {
      key: "quality",
      valid: ["low", "medium"],
      bad: [
        ["high", "forwarded"],
        ["best", "invalid_value"],
      ],
      default: "low",
    },
    moderation: enumRow("moderation", ["auto", "low", "high"], "auto"),
    user: textRow("user"),
  },
  "task-image-2 tasks": {
    prompt: requiredPrompt,
    n: count,
    size: {
      key: "size",
      valid: ["1024x1024", "1536x1024", "1024x1536", "auto"],
      bad: [
        ["512x512", "forwarded"],
        [512, "invalid_type"],
      ],
      default: "auto",
    },
    aspect_ratio: {
      key: "size",
      valid: ["1:1", "3:2", "2:3"],
      sent: ["1024x1024", "1536x1024", "1024x1536"],
      bad: [["16:9", "dropped"]],
      default: "auto",
    },
    image_size: {
      key: "size",
      valid: ["1K"],
      sent: ["1536x1024"],
      bad: [["8K", "invalid_value"]],
      default: "1536x1024",
      beside: { aspect_ratio: "3:2" },
    },
    quality: enumRow("quality", qualities, "auto"),
    background: enumRow("background", ["transparent", "opaque", "auto"], "auto"),
    output_format: enumRow("outputFormat", ["png", "jpeg", "webp"], "png"),
    output_compression: compression,
    input_fidelity: {
      ...enumRow("inputFidelity", ["high", "low"], "low"),
      images: true,
    },
    moderation: enumRow("moderation", ["auto", "low"]),
    user: textRow("user"),
  },
  "image-c tasks": {
    prompt: requiredPrompt,
    n: count,
    size: {
      key: "size",
      valid: ["1280x720", "3840x2160"],
      bad: [
        ["auto", "invalid_value"],
        ["1000x1000", "invalid_value"],
      ],
      default: "1024x1024",
    },
    aspect_ratio: enumRow("aspectRatio", ratios, "1:1"),
    image_size: enumRow("imageSize", ["1K", "2K", "4K"], "1K"),
    negative_prompt: textRow("negativePrompt"),
    seed: integerRow("seed", 0, 2_147_483_647),
    prompt_extend: booleanRow("promptExtend"),
    watermark: booleanRow("watermark", false),
    user: textRow("user"),
  },
};
