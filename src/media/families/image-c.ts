/**
 * The image model whose tasks can be read in the alias format. The spec gives no submission format. The family takes a size, or a ratio
 * and a tier, and always requests a size in pixels, so that the produced size is the priced one. Requirements: MODELS.
 */
import type { MediaFamily } from "../family.ts";
import { type SizeTable, tierOfSize } from "../image-rules.ts";
import { daySeconds, n, prompt, referenceFiles, user, remarks } from "./image.ts";
import { negativePrompt, seed, watermark } from "./video.ts";

const sizes: SizeTable = {
  "1:1": { "1K": "1024x1024", "2K": "2048x2048", "4K": "2880x2880" },
  "4:3": { "1K": "1152x864", "2K": "2304x1728", "4K": "3264x2448" },
  "3:4": { "1K": "864x1152", "2K": "1728x2304", "4K": "2448x3264" },
  "3:2": { "1K": "1248x832", "2K": "2496x1664", "4K": "3456x2304" },
  "2:3": { "1K": "832x1248", "2K": "1664x2496", "4K": "2304x3456" },
  "16:9": { "1K": "1280x720", "2K": "2560x1440", "4K": "3840x2160" },
  "9:16": { "1K": "720x1280", "2K": "1440x2560", "4K": "2160x3840" },
};

export const imageC: MediaFamily = {
  name: "image-c",
  kind: "image",
  forms: ["tasks"],
  fields: {
    prompt,
    n,
    size: {
      name: "size",
      domain: { type: "size", presets: [], custom: true },
      meaning:
        "`<width>x<height>`: sides divisible by 16, ratio 1:3 to 3:1, at most 3840x2160 or 2160x3840",
    },
    aspectRatio: {
      name: "aspect_ratio",
      domain: { type: "enum", values: Object.keys(sizes) },
      default: "1:1",
      defaultWithout: "size",
      meaning: "with `image_size` another spelling of `size`, which wins",
    },
    imageSize: {
      name: "image_size",
      domain: { type: "enum", values: ["1K", "2K", "4K"] },
      default: "1K",
      meaning:
        "the tier, which may decide the price; for a `size`, the smallest tier that contains it",
    },
    negativePrompt,
    seed: seed(0, 2_147_483_647),
    promptExtend: {
      name: "prompt_extend",
      domain: { type: "boolean" },
      meaning: "whether the vendor may enrich the prompt",
    },
    watermark: { ...watermark, default: false },
    user,
  },
  files: { ...referenceFiles, most: 9, mask: false },
  rules: [tierOfSize(sizes)],
  remarks: [
    remarks.sizeWins,
    "The image always has the size in pixels of its ratio and tier. At `1K`, DashScope's `qwen-image` has sizes of its own, such as 1328x1328 for 1:1.",
    "At DashScope's `wan2.6-image`, `n` without reference images is the most pictures, up to 5: the model decides how many it makes, and those are charged.",
  ],
  usage: { unit: "images" },
  expirySeconds: daySeconds,
};
