/** What the xai-like vendor refuses at images. */
import { integer, list, object, oneOf, text, wrongField, wrongImageAddress } from "../fields.ts";
import type { Json } from "../json.ts";
import { asList, asText, isObject } from "../json.ts";
import type { Call, Check } from "../vendor.ts";
import { invalidArgument, notDeserializable } from "./errors.ts";

/** Pixels at the lower tier; the higher has twice as many in each direction. */
export const sizes: Readonly<Record<string, readonly [width: number, height: number]>> = {
  "1:1": [1024, 1024],
  "4:3": [1152, 864],
  "3:4": [864, 1152],
  "3:2": [1248, 832],
  "2:3": [832, 1248],
  "16:9": [1280, 720],
  "9:16": [720, 1280],
  "2:1": [1408, 704],
  "1:2": [704, 1408],
  "21:9": [1568, 672],
  "5:2": [1600, 640],
  "19.5:9": [1248, 576],
  "9:19.5": [576, 1248],
  "20:9": [1280, 576],
  "9:20": [576, 1280],
};

const rules = {
  model: text,
  prompt: text,
  n: integer(1, 10),
  aspect_ratio: oneOf(...Object.keys(sizes), "auto"),
  resolution: oneOf("1k", "2k"),
  quality: oneOf("low", "medium", "high"),
  moderation: oneOf("low", "auto", "high"),
  response_format: oneOf("url", "b64_json"),
  user: text,
};
const editRules = { ...rules, image: object, images: list };
const inputsMax = 5;

const refuseFields =
  (known: typeof rules): Check =>
  ({ body }) => {
    for (const name of ["model", "prompt"]) {
      if (typeof body[name] !== "string") throw notDeserializable(`missing field \`${name}\``);
    }
    const wrong = wrongField(body, known);
    if (wrong) {
      const message = `${wrong.field}: ${wrong.fault}`;
      throw wrong.kind === "value" ? invalidArgument(message) : notDeserializable(message);
    }
    if (body["prompt"] === "") throw invalidArgument("prompt: must not be empty");
    if (body["quality"] === "high") {
      throw invalidArgument(`quality high is not supported by model ${asText(body["model"])}`);
    }
  };

/** The pictures of an edit, wherever they stand. */
export const inputsOf = (body: Json): readonly unknown[] => [
  ...(body["image"] === undefined ? [] : [body["image"]]),
  ...asList(body["images"]),
];

function refuseInputs({ body }: Call): void {
  if (body["image"] !== undefined && body["images"] !== undefined) {
    throw invalidArgument("only one of image and images may be given");
  }
  const inputs = inputsOf(body);
  if (inputs.length === 0) throw invalidArgument("image: at least one is required");
  if (inputs.length > inputsMax) throw invalidArgument(`images: at most ${inputsMax}`);
  for (const [index, input] of inputs.entries()) {
    const place = `images[${index}]`;
    if (!isObject(input)) throw notDeserializable(`${place}: invalid type: expected an object`);
    const wrong = wrongField(input, { url: text, type: oneOf("image_url") });
    if (wrong) throw notDeserializable(`${place}.${wrong.field}: ${wrong.fault}`);
    const fault = wrongImageAddress(input["url"]);
    if (fault) throw invalidArgument(`${place}.url: ${fault}`);
  }
}

export const generationsStrict: readonly Check[] = [refuseFields(rules)];
export const editsStrict: readonly Check[] = [refuseFields(editRules), refuseInputs];
