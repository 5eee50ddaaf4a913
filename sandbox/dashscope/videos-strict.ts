/** What the dashscope-like vendor refuses at video synthesis. Each generation of models has fields of its own. */
import { entriesOf } from "../checks.ts";
import type { Rule } from "../fields.ts";
import {
  flag,
  integer,
  isWebAddress,
  list,
  oneOf,
  text,
  wrongField,
  wrongImageAddress,
} from "../fields.ts";
import type { Json } from "../json.ts";
import { asObject, asText, isObject } from "../json.ts";
import type { Call, Check } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { invalidParameter } from "./errors.ts";
import { refuseSynchronous } from "./tasks.ts";

interface Generation {
  readonly input: Readonly<Record<string, Rule>>;
  readonly parameters: Readonly<Record<string, Rule>>;
}

const words = { prompt: text, negative_prompt: text };
const common = {
  duration: integer(1, 15),
  seed: integer(0, 2_147_483_647),
  prompt_extend: flag,
  watermark: flag,
};
const ratio = oneOf("16:9", "9:16", "1:1", "4:3", "3:4");

const wan3: Generation = {
  input: { ...words, media: list },
  parameters: { ...common, resolution: oneOf("480P", "720P", "1080P"), ratio, audio: flag },
};
const wan27: Generation = {
  input: { ...words, media: list, img_url: text, audio_url: text },
  parameters: { ...common, resolution: oneOf("720P", "1080P"), ratio },
};
/** Of the oldest, those that make a video between two pictures. */
const wanFrames: Generation = {
  input: { ...words, first_frame_url: text, last_frame_url: text },
  parameters: { ...common, resolution: oneOf("480P", "720P", "1080P") },
};
const wanOld: Generation = {
  input: { ...words, img_url: text, audio_url: text, reference_urls: list },
  parameters: {
    ...common,
    resolution: oneOf("480P", "720P", "1080P"),
    size: (value) =>
      /^\d{3,4}\*\d{3,4}$/.test(asText(value)) ? undefined : "expected a size like 1280*720",
    audio: flag,
    shot_type: oneOf("single", "multi"),
  },
};

/** The generation a model's name tells; undefined for models that make no videos. */
function generationOf(model: string): Generation | undefined {
  if (model.includes("image")) return undefined;
  if (model.startsWith("wan3")) return wan3;
  if (model.startsWith("wan2.7")) return wan27;
  if (!model.startsWith("wan")) return undefined;
  return model.includes("kf2v") ? wanFrames : wanOld;
}

function refuseWrongFields({ body, model }: Call): void {
  if (model === "") throw invalidParameter("Required parameter(model) missing or invalid.");
  const generation = generationOf(model);
  if (!generation) {
    throw new Refusal(404, { code: "ModelNotFound", message: `Model not exist: ${model}` });
  }
  const { input, parameters = {}, ...rest } = body;
  const [unknown] = Object.keys(rest).filter((name) => name !== "model");
  if (unknown !== undefined) throw invalidParameter(`${unknown}: unknown field`);
  if (!isObject(input)) throw invalidParameter("input: invalid type: expected an object");
  if (!isObject(parameters)) throw invalidParameter("parameters: invalid type: expected an object");
  refuseWrong("input", input, generation.input);
  refuseWrong("parameters", parameters, generation.parameters);
}

function refuseWrong(place: string, given: Json, rules: Readonly<Record<string, Rule>>): void {
  const wrong = wrongField(given, rules);
  if (wrong) throw invalidParameter(`${place}.${wrong.field}: ${wrong.fault}`);
}

const mediaRules = {
  type: oneOf("first_frame", "last_frame", "reference_image", "reference_video", "reference_audio"),
  url: text,
  reference_voice: text,
};

function refuseWrongMedia({ body }: Call): void {
  const seen = new Set<string>();
  for (const [index, item] of entriesOf(asObject(body["input"])["media"])) {
    const place = `input.media[${index}]`;
    refuseWrong(place, item, mediaRules);
    const type = asText(item["type"]);
    if (seen.has(type) && type.endsWith("_frame"))
      throw invalidParameter(`${place}: a second ${type}`);
    seen.add(type);
    const isPicture = type.endsWith("_frame") || type === "reference_image";
    const fault = isPicture
      ? wrongImageAddress(item["url"])
      : isWebAddress(asText(item["url"]))
        ? undefined
        : "expected an http(s) address";
    if (fault) throw invalidParameter(`${place}.url: ${fault}`);
  }
  if (seen.has("last_frame") && !seen.has("first_frame")) {
    throw invalidParameter("input.media: last_frame needs first_frame");
  }
}

const pictureFields = ["img_url", "first_frame_url", "last_frame_url"];

function refuseNothing({ body }: Call): void {
  const input = asObject(body["input"]);
  const hasMaterial = ["media", "reference_urls", ...pictureFields].some((name) => input[name]);
  if (asText(input["prompt"]) === "" && !hasMaterial) {
    throw invalidParameter("input.prompt: missing");
  }
  for (const name of pictureFields) {
    const fault = input[name] === undefined ? undefined : wrongImageAddress(input[name]);
    if (fault) throw invalidParameter(`input.${name}: ${fault}`);
  }
}

/** The second generation takes its shape from the first frame and refuses to be told another one. */
function refuseShapeOfFrame({ body, model }: Call): void {
  if (!model.startsWith("wan2.7") || asObject(body["parameters"])["ratio"] === undefined) return;
  const input = asObject(body["input"]);
  const frames = entriesOf(input["media"]).filter(([, item]) => item["type"] === "first_frame");
  if (frames.length > 0 || input["img_url"] !== undefined) {
    throw invalidParameter("parameters.ratio: not with a first frame");
  }
}

/** Models that make a video between two pictures are at a service of their own. */
export type VideoService = "video-generation" | "image2video";

const refuseElsewhere =
  (service: VideoService): Check =>
  ({ model }) => {
    if ((generationOf(model) === wanFrames) !== (service === "image2video"))
      throw invalidParameter("url error, please check url！");
  };

export const videosStrict = (service: VideoService): readonly Check[] => [
  refuseSynchronous,
  refuseElsewhere(service),
  refuseWrongFields,
  refuseWrongMedia,
  refuseNothing,
  refuseShapeOfFrame,
];
