/**
 * DashScope's images, as tasks: one user message with the pictures and the prompt. Sizes are written with an asterisk, or as
 * a tier. Results stand in `output.choices`, or in `output.results` where an older model made them. Older models, qwen-image among them,
 * take a prompt alone, at a service of their own.
 */
import { defined } from "../../base/defined.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { ImageRequest } from "../../media/index.ts";
import { dashscopeTasks, readTask, serviceAsk } from "./dashscope.ts";
import { emptyJob, failedJob } from "./refusal.ts";
import { DataUrl, jsonParts, streamedBody } from "./streamed-body.ts";
import type { MediaDialect, MediaResult, MediaState } from "./types.ts";
import { droppedFields, objectIn, textIn } from "./wire.ts";

/** The side of a square of each tier, in pixels. */
const tierSides: Readonly<Record<string, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };

/** Pixels of a ratio at a tier: the tier's area, each side rounded to 16. */
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

/** Of a request with pictures such a model is asked as others are: the vendor refuses it, where leaving them out would make something else. */
const isOlder = (model: string, { images }: ImageRequest): boolean =>
  images.length === 0 && /^(?:qwen-image(?:-plus)?|wanx?2\.[0-5]-t2i.*)$/.test(model);

function olderBody(request: ImageRequest, model: string): string {
  const { prompt, negativePrompt: negative_prompt } = request;
  const isQwen = model.startsWith("qwen");
  return JSON.stringify({
    model,
    input: defined({ prompt, negative_prompt: isQwen ? undefined : negative_prompt }),
    parameters: defined({
      n: request.n,
      size: sizeOf(request),
      negative_prompt: isQwen ? negative_prompt : undefined,
      prompt_extend: request.promptExtend,
      watermark: request.watermark,
      seed: request.seed,
    }),
  });
}

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
      n: request.n,
      size: sizeOf(request),
      negative_prompt: request.negativePrompt,
      prompt_extend: request.promptExtend,
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
 * Addresses in `choices`, message by message, or in the older `results`, where a picture may have failed by itself. One that is told twice, such as in both lists, is one
 * picture, kept and charged once, unless the vendor counts as many pictures as a list has addresses.
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
  lost: (request) =>
    droppedFields(request, [
      ...(["mask", "quality", "background", "outputFormat", "outputCompression"] as const),
      ...(["inputFidelity", "moderation", "user"] as const),
    ]),
  readPoll: (status, body, id) => readTask(status, body, { id, succeeded: madeImages }),
};
