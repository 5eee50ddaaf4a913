/** Converts read values to the request that is stored and sent to a vendor. */
import type { ImageFamily, VideoFamily } from "../catalog/index.ts";
import { assert } from "../base/assert.ts";
import type { Values } from "./family.ts";
import { modeOf } from "./material.ts";
import type { ImageRequest, Upload, VideoRequest } from "./types.ts";

export function videoRequest(family: VideoFamily, values: Values): VideoRequest {
  const { durationSeconds, resolution, references, media: _media, ...rest } = values;
  assert(durationSeconds !== undefined && resolution !== undefined, "a video family has defaults");
  return {
    kind: "video",
    family,
    mode: modeOf(values),
    durationSeconds,
    resolution,
    references: references ?? [],
    ...rest,
  };
}

/** Compression applies to lossy formats only; for others it is not sent. */
export function imageRequest(
  family: ImageFamily,
  values: Values,
  { images, mask }: { readonly images: readonly Upload[]; readonly mask?: Upload | undefined },
): ImageRequest {
  const { prompt, n, outputFormat, outputCompression, ...rest } = values;
  assert(prompt !== undefined && n !== undefined, "an image family has a prompt and a number");
  const lossy = outputFormat === "jpeg" || outputFormat === "webp";
  return {
    kind: "image",
    family,
    prompt,
    n,
    images,
    ...(mask && { mask }),
    ...(outputFormat !== undefined && { outputFormat: outputFormat as "png" | "jpeg" | "webp" }),
    ...(lossy && { outputCompression }),
    ...rest,
  };
}
