/**
 * The video model billed per generated-video token; its tasks can be given more time. The spec gives no submission format, so it
 * uses the unified one. TASK-30, LIM-15; docs/decisions.md "Expiry".
 */
import type { MediaFamily } from "../family.ts";
import {
  aspectRatio,
  audio,
  common,
  commonRemarks,
  commonRules,
  daySeconds,
  refuses,
  resolution,
  seed,
  user,
  watermark,
} from "./video.ts";

export const videoTokens: MediaFamily = {
  name: "video-tokens",
  kind: "video",
  forms: ["tasks"],
  fields: {
    ...common,
    aspectRatio: aspectRatio(["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "adaptive"]),
    resolution: resolution(["480p", "720p", "1080p"]),
    audio,
    seed: seed(-1, 4_294_967_295),
    watermark,
    cameraFixed: {
      name: "camera_fixed",
      domain: { type: "boolean" },
      meaning: "true: the camera does not move",
    },
    expiresAfterSeconds: {
      name: "execution_expires_after",
      domain: { type: "integer", min: 3600, max: 259_200 },
      default: 172_800,
      meaning: "seconds after which the task expires",
    },
    user,
  },
  refuses,
  rules: commonRules,
  remarks: [
    ...commonRemarks,
    "With a first frame and without `aspect_ratio`, the vendor uses the ratio of the image.",
    "A prompt with settings such as `--duration 5` or `--rs 720p` is refused: ByteDance's Seedance 1 reads them, beside the fields. Seedance 2 does not.",
  ],
  // The largest frames over all generations of the vendor's models: 864x496, 1504x640, 1920x1088.
  usage: {
    unit: "video_tokens",
    framePixels: { "480p": 428_544, "720p": 962_560, "1080p": 2_088_960 },
    widestRatio: "21:9",
  },
  expirySeconds: 2 * daySeconds,
};
