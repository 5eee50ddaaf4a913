/** The model of synchronous generation and of edit form 1. Requirements: IMG, EDIT1. */
import type { MediaFamily } from "../family.ts";
import { compressionOfLossy, oneWhenStreaming } from "../image-rules.ts";
import {
  background,
  boundedPrompt,
  customSize,
  daySeconds,
  n,
  outputCompression,
  outputFormat,
  quality,
  referenceFiles,
  streaming,
  user,
  remarks,
} from "./image.ts";

export const imageA: MediaFamily = {
  name: "image-a",
  kind: "image",
  forms: ["images", "edits"],
  isDefault: true,
  fields: {
    prompt: boundedPrompt,
    n,
    size: customSize,
    quality,
    background: background(["opaque", "auto"]),
    outputFormat: outputFormat(["png", "jpeg"]),
    outputCompression: outputCompression("jpeg"),
    inputFidelity: {
      name: "input_fidelity",
      forms: ["edits"],
      domain: { type: "enum", values: ["high", "low"] },
      meaning: "how closely an edit keeps to the images",
    },
    moderation: {
      name: "moderation",
      domain: { type: "enum", values: ["low", "auto"] },
      default: "auto",
      meaning: "how strictly the vendor checks",
    },
    user,
    stream: { ...streaming.stream, forms: ["images"] },
    partialImages: { ...streaming.partialImages, forms: ["images"] },
  },
  strictForms: ["edits"],
  files: { ...referenceFiles, requiredIn: ["edits"] },
  rules: [compressionOfLossy, oneWhenStreaming],
  remarks: [remarks.compression, remarks.streaming],
  usage: { unit: "image_tokens", autoSizes: ["3840x2160", "2160x3840"] },
  expirySeconds: daySeconds,
};
