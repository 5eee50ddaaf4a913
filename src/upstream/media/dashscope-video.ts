/**
 * DashScope's videos. There are three generations of requests, distinguished by the model's name. From `wan2.7` on all material is in
 * `input.media`; models up to `wan2.6` have a field for each kind, and name sizes in pixels. `wan2.7` takes no ratio beside a first frame,
 * and has no field for sound. Other names are taken for the newest generation.
 */
import { defined } from "../../base/defined.ts";
import type { WireObject } from "../../base/json.ts";
import type { Note } from "../../base/notes.ts";
import { reportedAmount } from "../../base/usage.ts";
import type { Material, VideoRequest } from "../../media/index.ts";
import { dashscopeTasks, readTask, serviceAsk } from "./dashscope.ts";
import { emptyJob } from "./refusal.ts";
import { jsonParts, materialUrl, streamedBody } from "./streamed-body.ts";
import type { MediaDialect, MediaState } from "./types.ts";
import { droppedFields, textIn } from "./wire.ts";

interface Generation {
  /** The material fields of `input`. */
  material(request: VideoRequest, model: string): WireObject;
  /** The fields of `parameters` for the size. */
  size(request: VideoRequest): WireObject;
  readonly audio: boolean;
  /** The material that a model of this generation has no field for. */
  lacks(model: string): readonly ("lastFrame" | "references")[];
  /** The note on the aspect ratio, if it is not sent unchanged. */
  ratioNote(request: VideoRequest): Note | undefined;
}

const upper = (resolution: string) => resolution.toUpperCase();

const media = (type: string) => (material: Material) => ({ type, url: materialUrl(material) });

const listOf = (material: Material | undefined) => (material === undefined ? [] : [material]);

const place = (material: Material | undefined) => material && materialUrl(material);

const filled = <Item>(list: readonly Item[]) => (list.length > 0 ? list : undefined);

const newest: Generation = {
  material: (request) => ({
    media: filled([
      ...listOf(request.firstFrame).map(media("first_frame")),
      ...listOf(request.lastFrame).map(media("last_frame")),
      ...request.references.map(media("reference_image")),
    ]),
  }),
  size: (request) => ({ resolution: upper(request.resolution), ratio: request.aspectRatio }),
  audio: true,
  lacks: () => [],
  ratioNote: () => undefined,
};

const wan27: Generation = {
  ...newest,
  size: (request) => ({
    resolution: upper(request.resolution),
    ratio: request.firstFrame === undefined ? request.aspectRatio : undefined,
  }),
  // Videos of wan2.7 always have sound.
  audio: false,
  ratioNote: (request) => followsImage(request),
};

const keyFrames = (model: string) => model.includes("kf2v");

/** Key-frame models have a separate service; the other one refuses their address. */
const serviceOf = (model: string) =>
  `${keyFrames(model) ? "image2video" : "video-generation"}/video-synthesis`;

const legacy: Generation = {
  material: (request, model) =>
    keyFrames(model)
      ? { first_frame_url: place(request.firstFrame), last_frame_url: place(request.lastFrame) }
      : {
          img_url: place(request.firstFrame),
          reference_urls: filled(request.references.map(materialUrl)),
        },
  size: (request) =>
    request.firstFrame === undefined
      ? { size: legacySize(request) ?? legacySizes[request.resolution]?.["16:9"] }
      : { resolution: upper(request.resolution) },
  audio: true,
  lacks: (model) => (keyFrames(model) ? ["references"] : ["lastFrame"]),
  ratioNote: (request) =>
    followsImage(request) ?? (legacySize(request) === undefined ? noSuchSize : undefined),
};

/** The sizes that models before `wan2.7` make, by resolution and ratio. */
const legacySizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480p": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720p": {
    "16:9": "1280*720",
    "9:16": "720*1280",
    "1:1": "960*960",
    "4:3": "1088*832",
    "3:4": "832*1088",
  },
  "1080p": {
    "16:9": "1920*1080",
    "9:16": "1080*1920",
    "1:1": "1440*1440",
    "4:3": "1632*1248",
    "3:4": "1248*1632",
  },
};

const legacySize = (request: VideoRequest): string | undefined =>
  legacySizes[request.resolution]?.[request.aspectRatio ?? "16:9"];

const followsImage = (request: VideoRequest): Note | undefined =>
  request.firstFrame === undefined || request.aspectRatio === undefined
    ? undefined
    : { param: "aspect_ratio", kind: "ignored", detail: "the output follows the image, ignored" };

const noSuchSize: Note = {
  param: "aspect_ratio",
  kind: "rewritten",
  detail: "not available at this resolution, 16:9 is used",
};

function generationOf(model: string): Generation {
  if (model.startsWith("wan2.7")) return wan27;
  return /^wanx|^wan[12]\./.test(model) ? legacy : newest;
}

function bodyParts(request: VideoRequest, model: string) {
  const generation = generationOf(model);
  return jsonParts({
    model,
    input: defined({
      prompt: request.prompt,
      negative_prompt: request.negativePrompt,
      ...generation.material(request, model),
    }),
    parameters: defined({
      ...generation.size(request),
      duration: request.durationSeconds,
      seed: request.seed,
      prompt_extend: request.promptExtend,
      audio: generation.audio ? request.audio : undefined,
      watermark: request.watermark,
    }),
  });
}

function droppedNotes(request: VideoRequest, model: string): Note[] {
  const generation = generationOf(model);
  const notes = droppedFields(request, [
    ...generation.lacks(model),
    // Sound that cannot be switched off is reported only to callers who wanted none.
    ...(generation.audio || request.audio === true ? [] : (["audio"] as const)),
    ...(["moderation", "user", "cameraFixed"] as const),
  ]);
  const ratio = generation.ratioNote(request);
  return ratio ? [...notes, ratio] : notes;
}

/** Models named so make videos from a text alone. DashScope ignores fields that a model does not have, and charges what it then makes. */
const ofTextAlone = /(?:^|[-_./])t2v(?:$|[-_.])/;

function refuses({ firstFrame, references }: VideoRequest, model: string) {
  const param = firstFrame === undefined ? "reference_images" : "image";
  const has = firstFrame !== undefined || references.length > 0;
  return has && ofTextAlone.test(model)
    ? { param, why: "the model makes videos from text only" }
    : undefined;
}

function madeVideo(output: WireObject, usage: WireObject): MediaState {
  const url = textIn(output["video_url"]);
  if (url === undefined) return emptyJob;
  // Models up to wan2.2 report only the last of these, and always make 5 seconds.
  const told = [usage["output_video_duration"], usage["duration"], usage["video_duration"]];
  const seconds = told.map(reportedAmount).find((amount) => amount !== undefined);
  return { state: "succeeded", results: [{ from: "url", url }], reported: { seconds } };
}

export const dashscopeVideo: MediaDialect = {
  ...dashscopeTasks,
  pollSeconds: 15,
  submit: (provider, apiKey, { request, upstreamModel, open }) =>
    serviceAsk(
      provider,
      apiKey,
      serviceOf(upstreamModel),
      streamedBody(bodyParts(request as VideoRequest, upstreamModel), open),
    ),
  refuses: (request, upstreamModel) => refuses(request as VideoRequest, upstreamModel),
  droppedNotes: (request, upstreamModel) => droppedNotes(request as VideoRequest, upstreamModel),
  readPoll: (status, body, id) => readTask(status, body, { id, succeeded: madeVideo }),
};
