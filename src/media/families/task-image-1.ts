/** The image task model with sixteen ratios and two tiers. Requirements: TIMG1. */
import type { MediaFamily, Rule } from "../family.ts";
import { daySeconds, n, prompt, user } from "./image.ts";

const ratios = ["1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "2:1", "1:2", "21:9", "5:2"];
const phoneRatios = ["19.5:9", "9:19.5", "20:9", "9:20", "auto"];

/** `auto` is the same as `low`, and the tier is always sent (TIMG1-18, TIMG1-20). */
const autoIsLow: Rule = (values) =>
  values.quality === "auto" ? { ...values, quality: "low" } : values;

export const taskImage1: MediaFamily = {
  name: "task-image-1",
  kind: "image",
  forms: ["tasks"],
  fields: {
    prompt,
    n,
    aspectRatio: {
      name: "aspect_ratio",
      domain: { type: "enum", values: [...ratios, ...phoneRatios] },
      default: "1:1",
      outside: "drop",
      meaning: "the shape; does not change the price",
    },
    imageSize: {
      name: "image_size",
      domain: { type: "enum", values: ["1K", "2K"] },
      default: "1K",
      meaning: "the tier: 1K gives JPEG, 2K gives PNG; with `quality` it decides the price",
    },
    quality: {
      name: "quality",
      domain: { type: "enum", values: ["low", "medium", "auto"], forwarded: ["high"] },
      default: "low",
      meaning: "`auto` is the same as `low`; the upstream refuses `high`",
    },
    moderation: {
      name: "moderation",
      domain: { type: "enum", values: ["auto", "low", "high"] },
      default: "auto",
      meaning: "how strictly the vendor checks",
    },
    user,
  },
  drops: {
    size: "follows aspect_ratio and image_size",
    background: "not supported by this model",
    output_format: "follows image_size",
    output_compression: "not supported by this model",
    input_fidelity: "not supported by this model",
    seed: "not supported by this model",
    style: null,
  },
  files: { most: 5, bytesMost: 25 * 1024 * 1024, encodedBytesMost: 48_000_000, mask: false },
  rules: [autoIsLow],
  remarks: ["The format follows `image_size`."],
  usage: { unit: "images" },
  expirySeconds: daySeconds,
};
