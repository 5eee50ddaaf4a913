/** The video model with 480p, 720p and 1080p, and the same maximum length in every mode. NVID-04, NVID-05. */
import type { MediaFamily } from "../family.ts";
import { ratioFollowsFrame } from "../material.ts";
import { commonRemarks, commonRules, followsFrame, resolution } from "./video.ts";
import { videoV1 } from "./video-v1.ts";

export const videoV15: MediaFamily = {
  ...videoV1,
  name: "video-v1.5",
  fields: { ...videoV1.fields, resolution: resolution(["480p", "720p", "1080p"]) },
  rules: [...commonRules, ratioFollowsFrame],
  remarks: [...commonRemarks, followsFrame],
};
