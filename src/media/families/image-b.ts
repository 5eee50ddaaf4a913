/** The model of edit form 2, also as a task. Requirements: EDIT2. */
import type { MediaFamily } from "../family.ts";
import {
  compressionOfLossy,
  oneWhenStreaming,
  sizeByRatio,
  transparencyNeedsAlpha,
} from "../image-rules.ts";
import {
  background,
  customSize,
  daySeconds,
  n,
  outputCompression,
  outputFormat,
  prompt,
  quality,
  referenceFiles,
  streaming,
  user,
  remarks,
} from "./image.ts";

/** The listed sizes by ratio and tier. */
const sizes = {
  "1:1": { "1K": "1024x1024", "2K": "2048x2048" },
  "3:2": { "1K": "1536x1024" },
  "2:3": { "1K": "1024x1536" },
  "16:9": { "2K": "2048x1152", "4K": "3840x2160" },
  "9:16": { "4K": "2160x3840" },
};

export const imageB: MediaFamily = {
  name: "image-b",
  kind: "image",
  forms: ["edits", "tasks"],
  fields: {
    prompt,
    n,
    size: {
      ...customSize,
      domain: {
        type: "size",
        presets: [
          ...new Set(Object.values(sizes).flatMap((tiers) => Object.values(tiers))),
          "auto",
        ],
        custom: true,
      },
    },
    aspectRatio: {
      name: "aspect_ratio",
      domain: { type: "enum", values: Object.keys(sizes) },
      meaning: "another spelling of `size`, which wins",
    },
    imageSize: {
      name: "image_size",
      domain: { type: "enum", values: ["1K", "2K", "4K"] },
      meaning: "with `aspect_ratio`",
    },
    quality,
    background: background(["transparent", "opaque", "auto"]),
    outputFormat: outputFormat(["png", "jpeg", "webp"]),
    outputCompression: outputCompression("jpeg and webp", { textToo: true }),
    user,
    ...streaming,
  },
  drops: { input_fidelity: "not configurable here" },
  files: { ...referenceFiles, requiredIn: ["edits"] },
  rules: [sizeByRatio(sizes), transparencyNeedsAlpha, compressionOfLossy, oneWhenStreaming],
  remarks: [
    remarks.sizeWins,
    "A pair of `aspect_ratio` and `image_size` without a listed size is dropped with a note: 16:9 is 2048x1152 and 3840x2160, 9:16 is 2160x3840. A tier alone is the square.",
    remarks.transparency,
    remarks.compression,
    remarks.streaming,
  ],
  usage: { unit: "image_tokens", autoSizes: ["3840x2160", "2160x3840"] },
  expirySeconds: daySeconds,
};
