/** What the xai-like vendor refuses at video generations. */
import { entriesOf } from "../checks.ts";
import {
  flag,
  integer,
  list,
  object,
  oneOf,
  text,
  wrongField,
  wrongImageAddress,
} from "../fields.ts";
import type { Json } from "../json.ts";
import { asList, asNumber, asText, isObject } from "../json.ts";
import type { Call, Check } from "../vendor.ts";
import { invalidArgument, notDeserializable } from "./errors.ts";

const rules = {
  model: text,
  prompt: text,
  duration: integer(1, 15),
  aspect_ratio: oneOf("1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"),
  resolution: oneOf("480p", "720p", "1080p"),
  image: object,
  last_frame: object,
  reference_images: list,
  generate_audio: flag,
  moderation: oneOf("low", "auto", "high"),
  user: text,
};

const referencesMax = 14;
/** The first generation's limit in seconds once there is more than a first frame. */
const guidedSecondsMax = 10;

function refuseWrongFields({ body }: Call): void {
  if (typeof body["model"] !== "string") throw notDeserializable("missing field `model`");
  const wrong = wrongField(body, rules);
  if (!wrong) return;
  const message = `${wrong.field}: ${wrong.fault}`;
  throw wrong.kind === "value" ? invalidArgument(message) : notDeserializable(message);
}

/** Every picture of a request with the place it stands at. */
function picturesOf(body: Json): [place: string, picture: unknown][] {
  const single = ["image", "last_frame"].filter((name) => body[name] !== undefined);
  return [
    ...single.map((name): [string, unknown] => [name, body[name]]),
    ...asList(body["reference_images"]).map((picture, index): [string, unknown] => [
      `reference_images[${index}]`,
      picture,
    ]),
  ];
}

function refuseWrongPictures({ body }: Call): void {
  for (const [place, picture] of picturesOf(body)) {
    if (!isObject(picture)) throw notDeserializable(`${place}: invalid type: expected an object`);
    const wrong = wrongField(picture, { url: text });
    if (wrong) throw notDeserializable(`${place}.${wrong.field}: ${wrong.fault}`);
    const fault = wrongImageAddress(picture["url"]);
    if (fault) throw invalidArgument(`${place}.url: ${fault}`);
  }
}

function refuseWrongMaterial({ body }: Call): void {
  const references = entriesOf(body["reference_images"]).length;
  const hasFrame = body["image"] !== undefined;
  if (references > referencesMax) {
    throw invalidArgument(`reference_images: at most ${referencesMax} images`);
  }
  if (references > 0 && hasFrame) {
    throw invalidArgument("image and reference_images cannot be used together");
  }
  if (body["last_frame"] !== undefined && !hasFrame) {
    throw invalidArgument("last_frame needs image");
  }
  if (asText(body["prompt"]) === "" && references === 0 && !hasFrame) {
    throw invalidArgument("prompt or image is required");
  }
}

/** Models with 1.5 in their name are the second generation: 1080p, and no shorter limit with references. */
function refuseBeyondModel({ body, model }: Call): void {
  if (model.includes("1.5")) return;
  if (body["resolution"] === "1080p") {
    throw invalidArgument(`resolution 1080p is not supported by model ${model}`);
  }
  const isGuided = body["last_frame"] !== undefined || asList(body["reference_images"]).length > 0;
  if (isGuided && (asNumber(body["duration"]) ?? 0) > guidedSecondsMax) {
    throw invalidArgument(`duration: at most ${guidedSecondsMax} with last_frame or references`);
  }
}

export const videosStrict: readonly Check[] = [
  refuseWrongFields,
  refuseWrongPictures,
  refuseWrongMaterial,
  refuseBeyondModel,
];
