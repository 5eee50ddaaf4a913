/** The image task model with three sizes. Requirements: TIMG2. */
import type { MediaFamily } from "../family.ts";
import {
  compressionOfLossy,
  downgradeTo,
  onlyFor,
  sizeByRatio,
  transparencyNeedsAlpha,
} from "../image-rules.ts";
import {
  background,
  daySeconds,
  n,
  outputCompression,
  outputFormat,
  presetSizes,
  prompt,
  quality,
  referenceFiles,
  user,
  remarks,
} from "./image.ts";

const sizes = {
  "1:1": { "1K": "1024x1024" },
  "3:2": { "1K": "1536x1024" },
  "2:3": { "1K": "1024x1536" },
};

export const taskImage2: MediaFamily = {
  name: "task-image-2",
  kind: "image",
  forms: ["tasks"],
  fields: {
    prompt,
    n,
    size: {
      name: "size",
      domain: { type: "size", presets: presetSizes, custom: false },
      default: "auto",
      outside: "forward",
      meaning: "the size in pixels",
    },
    aspectRatio: {
      name: "aspect_ratio",
      domain: { type: "enum", values: Object.keys(sizes) },
      outside: "drop",
      meaning: "another spelling of `size`, which wins",
    },
    imageSize: {
      name: "image_size",
      domain: { type: "enum", values: ["1K", "2K", "4K"] },
      meaning: "with `aspect_ratio`; 2K and 4K become 1K",
    },
    quality,
    background: background(["transparent", "opaque", "auto"]),
    outputFormat: outputFormat(["png", "jpeg", "webp"]),
    outputCompression: outputCompression("jpeg and webp", { textToo: true }),
    inputFidelity: {
      name: "input_fidelity",
      domain: { type: "enum", values: ["high", "low"] },
      meaning: "only for edits, `low` by default: how closely an edit keeps to the images",
    },
    moderation: {
      name: "moderation",
      domain: { type: "enum", values: ["auto", "low"] },
      meaning: "only without reference images: how strictly the vendor checks",
    },
    user,
  },
  files: referenceFiles,
  rules: [
    downgradeTo("1K"),
    sizeByRatio(sizes),
    transparencyNeedsAlpha,
    compressionOfLossy,
    onlyFor("edits", "inputFidelity"),
    onlyFor("generations", "moderation"),
    (values, { images }) => (images.length > 0 ? { inputFidelity: "low", ...values } : values),
  ],
  remarks: [
    remarks.sizeWins,
    remarks.transparency,
    remarks.compression,
    "`input_fidelity` without an image and `moderation` with one are dropped with a note.",
  ],
  usage: { unit: "image_tokens", autoSizes: ["1024x1536", "1536x1024"] },
  expirySeconds: daySeconds,
};
