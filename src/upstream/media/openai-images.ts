/**
 * OpenAI's images: `POST /images/generations` as JSON, `POST /images/edits` as a form. Both answer at once, with base64, or stream
 * (`image-events.ts`). The openai-compatible vendors take the same requests.
 */
import { defined } from "../../base/defined.ts";
import type { WireObject } from "../../base/json.ts";
import type { Provider } from "../../catalog/index.ts";
import type { ImageRequest } from "../../media/index.ts";
import type { Note } from "../../base/notes.ts";
import { imagesOrEventsIn } from "./image-events.ts";
import { multipartBody, type FormPart } from "./multipart.ts";
import { synchronous } from "./synchronous.ts";
import type { MediaDialect, MediaJob } from "./types.ts";
import { bearerAsk, droppedFields } from "./wire.ts";

/** True if the format takes a compression; with other formats the vendor refuses the field. */
const lossy = (request: ImageRequest): boolean =>
  request.outputFormat === "jpeg" || request.outputFormat === "webp";

/**
 * False for models that refuse the parameter, also under a relay's name such as `openai/gpt-image-2`. From gpt-image-2 on they always edit
 * with high fidelity, the mini always with low.
 */
const takesFidelity = (model: string): boolean => !/(?:^|\/)gpt-image-(?:2|1-mini)/.test(model);

const editing = (request: ImageRequest): boolean => request.images.length > 0;

/** The common fields of both endpoints, by the vendor's names. */
function optionsOf(request: ImageRequest, model: string): WireObject {
  return defined({
    n: request.n,
    size: request.size,
    quality: request.quality,
    background: request.background,
    output_format: request.outputFormat,
    output_compression: lossy(request) ? request.outputCompression : undefined,
    input_fidelity: editing(request) && takesFidelity(model) ? request.inputFidelity : undefined,
    moderation: request.moderation,
    user: request.user,
    ...(request.stream === true
      ? { stream: true, partial_images: request.partialImages }
      : undefined),
  });
}

const extensionOf = { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp" } as const;

/** One file is named `image`, several are each `image[]`, as in OpenAI's own clients. */
function editForm(request: ImageRequest, model: string): FormPart[] {
  const name = request.images.length > 1 ? "image[]" : "image";
  const files = request.images.map((upload, index) => ({
    name,
    filename: `image-${index + 1}.${extensionOf[upload.mediaType]}`,
    upload,
  }));
  const { mask } = request;
  const options = Object.entries(optionsOf(request, model));
  return [
    { name: "model", text: model },
    { name: "prompt", text: request.prompt },
    ...files,
    ...(mask ? [{ name: "mask", filename: "mask.png", upload: mask }] : []),
    ...options.map(([option, value]) => ({ name: option, text: String(value) })),
  ];
}

/**
 * Servers that load models themselves name them by a Hugging Face id or a path. `auto` means the same as no size, but vLLM-Omni refuses
 * the word in generations; in edits it reads it.
 */
const withKnownSize = ({ dialect }: Provider, request: ImageRequest, model: string): ImageRequest =>
  dialect === "openai-compatible" && request.size === "auto" && model.includes("/")
    ? { ...request, size: undefined }
    : request;

function submit(
  provider: Provider,
  apiKey: string,
  job: MediaJob,
): ReturnType<MediaDialect["submit"]> {
  const request = job.request as ImageRequest;
  const accept = request.stream === true ? { accept: "text/event-stream" } : undefined;
  const pictures = request.n + (request.stream === true ? (request.partialImages ?? 0) : 0);
  if (!editing(request)) {
    const options = optionsOf(
      withKnownSize(provider, request, job.upstreamModel),
      job.upstreamModel,
    );
    const body = JSON.stringify({ model: job.upstreamModel, prompt: request.prompt, ...options });
    const path = "/images/generations";
    const ask = { method: "POST", path, body, headers: { ...accept } } as const;
    return { ...bearerAsk(provider, apiKey, ask), pictures };
  }
  const form = multipartBody(editForm(request, job.upstreamModel), job.open);
  const ask = {
    method: "POST",
    path: "/images/edits",
    body: form.body,
    headers: { ...accept, "content-type": form.contentType },
  } as const;
  return { ...bearerAsk(provider, apiKey, ask), pictures };
}

function droppedNotes(request: ImageRequest, model: string): Note[] {
  const edits = editing(request);
  return droppedFields(request, [
    ...(edits ? [] : (["mask", "inputFidelity"] as const)),
    ...(edits && !takesFidelity(model) ? (["inputFidelity"] as const) : []),
    // 100 means no compression, which a lossless format does anyway.
    ...(lossy(request) || request.outputCompression === 100
      ? []
      : (["outputCompression"] as const)),
    ...(["aspectRatio", "imageSize", "negativePrompt", "promptExtend"] as const),
    ...(["seed", "watermark"] as const),
  ]);
}

export const openaiImages: MediaDialect = {
  ...synchronous,
  submit,
  readSubmit: imagesOrEventsIn,
  droppedNotes: (request, upstreamModel) => droppedNotes(request as ImageRequest, upstreamModel),
};
