/**
 * xAI's images: `POST /images/generations` and `POST /images/edits`, both JSON, both answered at once. Pictures are streamed as `data:`
 * URLs. Tier and quality are always sent, because the price depends on them (rows TIMG1).
 */
import { defined } from "../../base/defined.ts";
import type { ImageRequest } from "../../media/index.ts";
import { imagesOrEventsIn } from "./image-events.ts";
import { DataUrl, jsonParts, streamedBody } from "./streamed-body.ts";
import { synchronous } from "./synchronous.ts";
import type { MediaDialect } from "./types.ts";
import { bearerAsk, droppedFields } from "./wire.ts";

/** `auto` means `low`. */
const qualityOf = ({ quality }: ImageRequest): string =>
  quality === undefined || quality === "auto" ? "low" : quality;

/** Sent only if requested: `auto` is the vendor's default. */
const moderationOf = ({ moderation }: ImageRequest): string | undefined =>
  moderation === "auto" ? undefined : moderation;

function bodyParts(request: ImageRequest, model: string) {
  const inputs = request.images.map((upload) => ({ url: new DataUrl(upload), type: "image_url" }));
  return jsonParts(
    defined({
      model,
      prompt: request.prompt,
      n: request.n,
      aspect_ratio: request.aspectRatio,
      resolution: (request.imageSize ?? "1K").toLowerCase(),
      quality: qualityOf(request),
      moderation: moderationOf(request),
      response_format: "b64_json",
      user: request.user,
      image: inputs.length === 1 ? inputs[0] : undefined,
      images: inputs.length > 1 ? inputs : undefined,
    }),
  );
}

export const xaiImages: MediaDialect = {
  ...synchronous,
  submit(provider, apiKey, job) {
    const request = job.request as ImageRequest;
    const ask = bearerAsk(provider, apiKey, {
      method: "POST",
      path: request.images.length > 0 ? "/images/edits" : "/images/generations",
      body: streamedBody(bodyParts(request, job.upstreamModel), job.open),
    });
    return { ...ask, pictures: request.n };
  },
  readSubmit: imagesOrEventsIn,
  droppedNotes: (request) =>
    droppedFields(request, [
      ...(["size", "mask", "background", "outputFormat", "outputCompression"] as const),
      ...(["inputFidelity", "negativePrompt", "promptExtend", "seed", "watermark"] as const),
    ]),
};
