/**
 * The video model billed per produced second. Its vendor has no audio switch and no prompt rewriting.
 * It has no submission format of its own (TASK-47) and uses the unified one. VID-28, VID-29, LIM-09.
 */
import type { MediaFamily } from "../family.ts";
import { ratioFollowsFrame } from "../material.ts";
import {
  aspectRatio,
  common,
  commonRemarks,
  commonRules,
  daySeconds,
  followsFrame,
  negativePrompt,
  refuses,
  resolution,
  seed,
  user,
  watermark,
} from "./video.ts";

export const videoSeconds: MediaFamily = {
  name: "video-seconds",
  kind: "video",
  forms: ["tasks"],
  fields: {
    ...common,
    aspectRatio: aspectRatio(["16:9", "9:16", "1:1", "4:3", "3:4"]),
    resolution: resolution(["480p", "720p", "1080p"]),
    negativePrompt,
    seed: seed(0, 2_147_483_647),
    watermark,
    user,
  },
  drops: {
    audio: "not a choice of this model",
    prompt_extend: "not a choice of this model",
  },
  refuses,
  rules: [...commonRules, ratioFollowsFrame],
  remarks: [...commonRemarks, followsFrame],
  usage: { unit: "video_seconds" },
  expirySeconds: daySeconds,
};
