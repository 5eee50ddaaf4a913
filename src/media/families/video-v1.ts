/** The video model of 480p and 720p. Spec: "Video task (unified shape)", "POST /v1/videos/generations" (VID, NVID rows). */
import type { MediaFamily } from "../family.ts";
import { capWithMaterial, ratioFollowsFrame } from "../material.ts";
import {
  aspectRatio,
  audio,
  common,
  commonRules,
  daySeconds,
  moderation,
  refuses,
  resolution,
  user,
} from "./video.ts";

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
  rules: [...commonRules, capWithMaterial(10), ratioFollowsFrame],
  usage: { unit: "video_seconds" },
  expirySeconds: daySeconds,
};
