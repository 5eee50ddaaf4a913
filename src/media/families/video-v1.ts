/** The video model with 480p and 720p. Requirements: VID, NVID. */
import type { MediaFamily } from "../family.ts";
import { capWithMaterial, ratioFollowsFrame } from "../material.ts";
import {
  aspectRatio,
  audio,
  common,
  commonRemarks,
  commonRules,
  daySeconds,
  followsFrame,
  moderation,
  refuses,
  resolution,
  user,
} from "./video.ts";

const capSeconds = 10;

export const videoV1: MediaFamily = {
  name: "video-v1",
  kind: "video",
  forms: ["tasks", "videos"],
  fields: {
    ...common,
    aspectRatio: aspectRatio(),
    resolution: resolution(["480p", "720p"]),
    audio: { ...audio, default: true },
    moderation,
    user,
  },
  refuses,
  rules: [...commonRules, capWithMaterial(capSeconds), ratioFollowsFrame],
  remarks: [
    ...commonRemarks,
    followsFrame,
    `With \`reference_images\` or \`last_frame\` the video has at most ${capSeconds} seconds.`,
  ],
  usage: { unit: "video_seconds" },
  expirySeconds: daySeconds,
};
