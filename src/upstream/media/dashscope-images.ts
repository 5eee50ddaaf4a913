/**
 * DashScope's images, as tasks: one user message with the pictures and the prompt. Sizes are written with an asterisk, or as a tier.
 * Results are in `output.choices`, or in `output.results` for older models. Older models, qwen-image among them, take only a prompt, at a
 * separate service.
 */
import { defined } from "../../base/defined.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import type { ImageRequest } from "../../media/index.ts";
import { dashscopeTasks, readTask, serviceAsk } from "./dashscope.ts";
import { emptyJob, failedJob } from "./refusal.ts";
import { DataUrl, jsonParts, streamedBody } from "./streamed-body.ts";
import type { MediaDialect, MediaResult, MediaState } from "./types.ts";
import { droppedFields, objectIn, textIn } from "./wire.ts";

/** The side of each tier's square, in pixels. */
const tierSides: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };

/** Returns the pixels for a ratio at a tier: the tier's area, each side rounded to a multiple of 16. */
function ratioSize(ratio: string, tier: string): string | undefined {
  const [across, down] = ratio.split(":").map(Number);
  const side = tierSides[tier];
  if (side === undefined || !across || !down) return undefined;
  const scaled = (factor: number) => Math.round((side * Math.sqrt(factor)) / 16) * 16;
  return `${scaled(across / down)}*${scaled(down / across)}`;
}

function sizeOf({ size, aspectRatio, imageSize }: ImageRequest): string | undefined {
  if (size !== undefined && size !== "auto") return size.replace("x", "*");
  if (aspectRatio === undefined || aspectRatio === "auto") return imageSize;
  return ratioSize(aspectRatio, imageSize ?? "1K") ?? imageSize;
}

/**
 * True if the older service takes the request. One with pictures goes to the newer service, which refuses it: without them another image
 * would be made.
 */
const isOlder = (model: string, { images }: ImageRequest): boolean =>
  images.length === 0 && /^(?:qwen-image(?:-plus)?|wanx?2\.[0-5]-t2i.*)$/.test(model);

/** The only sizes that the older qwen-image models take. In pixels, all are of the tier 1K. */
const qwenSizes: Readonly<Record<string, string>> = {
  "1:1": "1328*1328",
  "4:3": "1472*1104",
  "3:4": "1104*1472",
  "16:9": "1664*928",
  "9:16": "928*1664",
};

/** Returns qwen-image's own size for a ratio at 1K. Anything else is sent unchanged, so that the vendor refuses what it cannot make. */
const qwenSizeOf = (request: ImageRequest): string | undefined =>
  (request.imageSize === "1K" ? qwenSizes[request.aspectRatio ?? ""] : undefined) ??
  sizeOf(request);

function olderBody(request: ImageRequest, model: string): string {
  const { prompt, negativePrompt: negative_prompt } = request;
  const isQwen = model.startsWith("qwen");
  return JSON.stringify({
    model,
    input: defined({ prompt, negative_prompt: isQwen ? undefined : negative_prompt }),
    parameters: defined({
      n: request.n,
      size: isQwen ? qwenSizeOf(request) : sizeOf(request),
      negative_prompt: isQwen ? negative_prompt : undefined,
      prompt_extend: request.promptExtend,
      watermark: request.watermark,
      seed: request.seed,
    }),
  });
}

/**
 * True for `wan2.6-image` without pictures. In its usual mode it edits, and refuses a request without pictures; it makes them in its mode
 * of texts with pictures.
 */
const interleaves = (model: string, { images }: ImageRequest): boolean =>
  images.length === 0 && model.startsWith("wan2.6-image");

/** The fields for the number of pictures. In the mode of texts with pictures `n` must be 1, and another field is the most pictures. */
const countOf = (request: ImageRequest, model: string): WireObject =>
  interleaves(model, request)
    ? { enable_interleave: true, max_images: request.n }
    : { n: request.n };

/** The note for a rewriting of the prompt, which that mode does not have. It is no dropped field: edits have it. */
const unextended = (request: ImageRequest, model: string): Note[] =>
  request.promptExtend !== undefined && interleaves(model, request)
    ? [{ param: "prompt_extend", kind: "ignored", detail: "no effect without a picture, ignored" }]
    : [];

function bodyParts(request: ImageRequest, model: string) {
  return jsonParts({
    model,
    input: {
      messages: [
        {
          role: "user",
          content: [
            ...request.images.map((upload) => ({ image: new DataUrl(upload) })),
            { text: request.prompt },
          ],
        },
      ],
    },
    parameters: defined({
      ...countOf(request, model),
      size: sizeOf(request),
      negative_prompt: request.negativePrompt,
      prompt_extend: interleaves(model, request) ? undefined : request.promptExtend,
      watermark: request.watermark,
      seed: request.seed,
    }),
  });
}

const listIn = (value: unknown): WireObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const texts = (values: readonly unknown[]): string[] =>
  values.map(textIn).filter((text) => text !== undefined);

/**
 * Returns the addresses in `choices`, message by message, or in the older `results`, where single pictures may have failed. A repeated
 * address is one picture, kept and charged once, unless the vendor's count equals the length of a list: then that list counts.
 */
function addressesIn(contents: WireObject[], older: WireObject[], count: unknown): string[] {
  const lists = [texts(contents.map((part) => part["image"])), texts(older.map(({ url }) => url))];
  return lists.find(({ length }) => length > 0 && length === count) ?? [...new Set(lists.flat())];
}

function madeImages(output: WireObject, usage: WireObject): MediaState {
  const contents = listIn(output["choices"]).flatMap((choice) =>
    listIn(objectIn(choice["message"])["content"]),
  );
  const older = listIn(output["results"]);
  const urls = addressesIn(contents, older, usage["image_count"]);
  const results = urls.map((url): MediaResult => ({ from: "url", url }));
  if (results.length > 0) return { state: "succeeded", results, reported: {} };
  const failed = older.find((item) => textIn(item["code"]) !== undefined);
  return failed ? failedJob(failed) : emptyJob;
}

export const dashscopeImages: MediaDialect = {
  ...dashscopeTasks,
  pollSeconds: 3,
  submit(provider, apiKey, { request: asked, upstreamModel: model, open }) {
    const request = asked as ImageRequest;
    if (isOlder(model, request))
      return serviceAsk(provider, apiKey, "text2image/image-synthesis", olderBody(request, model));
    const body = streamedBody(bodyParts(request, model), open);
    return serviceAsk(provider, apiKey, "image-generation/generation", body);
  },
  droppedNotes: (request, model) => [
    ...droppedFields(request, [
      ...(["mask", "quality", "background", "outputFormat", "outputCompression"] as const),
      ...(["inputFidelity", "moderation", "user"] as const),
    ]),
    ...unextended(request as ImageRequest, model),
  ],
  readPoll: (status, body, id) => readTask(status, body, { id, succeeded: madeImages }),
};
