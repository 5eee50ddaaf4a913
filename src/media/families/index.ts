/** The families by name. A new one needs a file beside this one, a row here, and a row in catalog/families.ts: docs/extending.md. */
import type { ImageFamily, VideoFamily } from "../../catalog/index.ts";
import type { MediaFamily } from "../family.ts";
import { imageA } from "./image-a.ts";
import { imageB } from "./image-b.ts";
import { imageC } from "./image-c.ts";
import { taskImage1 } from "./task-image-1.ts";
import { taskImage2 } from "./task-image-2.ts";
import { videoSeconds } from "./video-seconds.ts";
import { videoTokens } from "./video-tokens.ts";
import { videoV15 } from "./video-v1-5.ts";
import { videoV1 } from "./video-v1.ts";

export const families: Readonly<Record<ImageFamily | VideoFamily, MediaFamily>> = {
  "image-a": imageA,
  "image-b": imageB,
  "task-image-1": taskImage1,
  "task-image-2": taskImage2,
  "image-c": imageC,
  "video-v1": videoV1,
  "video-v1.5": videoV15,
  "video-seconds": videoSeconds,
  "video-tokens": videoTokens,
};
