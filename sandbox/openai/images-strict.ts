/** What the openai-like vendor refuses at images, in its own words. What a model can do differs by its name. */
import { refuseWhen, unknownField } from "../checks.ts";
import type { Json } from "../json.ts";
import { asNumber, asText } from "../json.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Check } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import {
  charactersOf,
  missingParameter,
  numberLimits,
  outOfRange,
  unknownParameter,
} from "./errors.ts";

/** What a model can do. */
export interface ImageModel {
  /** Any size within the limits, or only the three presets. */
  readonly customSizes: boolean;
  readonly transparent: boolean;
  readonly webp: boolean;
  /** At edits: `input_fidelity` is a parameter; otherwise it always is high. */
  readonly fidelity: boolean;
  readonly moderationAtEdits: boolean;
}

const models: readonly (readonly [name: RegExp, model: ImageModel])[] = [
  // The names of the gateway's own families, under which the sandbox offers them.
  [
    /^task-image-model-2$/,
    {
      customSizes: false,
      transparent: true,
      webp: true,
      fidelity: true,
      moderationAtEdits: false,
    },
  ],
  [
    /^image-model-a$/,
    {
      customSizes: true,
      transparent: false,
      webp: false,
      fidelity: true,
      moderationAtEdits: true,
    },
  ],
  [
    /image/,
    {
      customSizes: true,
      transparent: true,
      webp: true,
      fidelity: false,
      moderationAtEdits: true,
    },
  ],
];

/** @throws Refusal for a model that makes no pictures. */
export function imageModel(name: string): ImageModel {
  const found = models.find(([pattern]) => pattern.test(name));
  if (found) return found[1];
  throw new Refusal(404, {
    message: `The model '${name}' does not exist or you do not have access to it.`,
    param: "model",
    code: "model_not_found",
  });
}

const fields = new Set([
  "prompt",
  "model",
  "n",
  "size",
  "quality",
  "background",
  "output_format",
  "output_compression",
  "moderation",
  "stream",
  "partial_images",
  "user",
]);
const editFields = new Set([...fields, "input_fidelity"]);

const limits = numberLimits({
  n: [1, 10],
  output_compression: [0, 100],
  partial_images: [0, 3],
});

const domains: Readonly<Record<string, readonly string[]>> = {
  quality: ["low", "medium", "high", "auto"],
  background: ["transparent", "opaque", "auto"],
  output_format: ["png", "jpeg", "webp"],
  moderation: ["auto", "low"],
  input_fidelity: ["high", "low"],
};

const promptCharactersMax = 32_000;

const shown = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const invalidValue = (param: string, value: unknown, supported: readonly string[]): Failure => ({
  message: `Invalid value: '${shown(value)}'. Supported values are: ${supported.map((one) => `'${one}'`).join(", ")}.`,
  param,
  code: "invalid_value",
});

function wrongTexts(body: Json): Failure | undefined {
  for (const param of ["model", "prompt"]) {
    if (asText(body[param]) === "") return missingParameter(param);
  }
  const length = charactersOf(asText(body["prompt"]));
  if (length > promptCharactersMax) {
    return {
      message: `Invalid 'prompt': string too long. Expected a string with maximum length ${promptCharactersMax}, but got a string with length ${length} instead.`,
      param: "prompt",
      code: "string_above_max_length",
    };
  }
  for (const [param, supported] of Object.entries(domains)) {
    const value = body[param];
    if (value === undefined) continue;
    if (typeof value !== "string" || !supported.includes(value)) {
      return invalidValue(param, value, supported);
    }
  }
  return undefined;
}

/** The pixels of "1536x1024"; undefined for other words. */
export function pixelsOf(size: string): readonly [width: number, height: number] | undefined {
  const found = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(size);
  return found ? [Number(found[1]), Number(found[2])] : undefined;
}

const presets = ["1024x1024", "1536x1024", "1024x1536", "auto"];
const longestMax = 3840;
const areaMax = 3840 * 2160;

function wrongSize({ body, model }: Call): Failure | undefined {
  const size = body["size"] ?? "auto";
  if (presets.includes(asText(size))) return undefined;
  const pixels = pixelsOf(asText(size));
  if (!pixels || !imageModel(model).customSizes) {
    return invalidValue("size", size, presets);
  }
  const [short, long] = pixels.toSorted((one, other) => one - other) as [number, number];
  const fits =
    pixels.every((side) => side % 16 === 0) &&
    long <= 3 * short &&
    long <= longestMax &&
    long * short <= areaMax;
  if (fits) return undefined;
  return {
    message: `Invalid size '${shown(size)}'. Width and height must be divisible by 16, the aspect ratio between 1:3 and 3:1, and the size within 3840x2160.`,
    param: "size",
    code: "invalid_value",
  };
}

function wrongTogether({ body, model }: Call): Failure | undefined {
  const can = imageModel(model);
  const format = asText(body["output_format"]) || "png";
  if (format === "webp" && !can.webp) return invalidValue("output_format", "webp", ["png", "jpeg"]);
  if (body["background"] === "transparent") {
    if (!can.transparent) return invalidValue("background", "transparent", ["opaque", "auto"]);
    if (format === "jpeg") {
      return {
        message: "Transparent background is not supported for JPEG output format.",
        param: "background",
        code: "invalid_value",
      };
    }
  }
  if (format === "png" && (asNumber(body["output_compression"]) ?? 100) < 100) {
    return {
      message: "Compression less than 100 is not supported for PNG output format.",
      param: "output_compression",
      code: "invalid_png_output_compression",
    };
  }
  const streams = body["stream"] === true;
  if (!streams && (asNumber(body["partial_images"]) ?? 0) > 0) {
    return {
      message: "'partial_images' is only allowed when 'stream' is true.",
      param: "partial_images",
    };
  }
  return undefined;
}

function wrongStream({ stream }: Json): Failure | undefined {
  if (stream === undefined || typeof stream === "boolean") return undefined;
  return {
    message: "Invalid type for 'stream': expected a boolean.",
    param: "stream",
    code: "invalid_type",
  };
}

function broken(call: Call): Failure | undefined {
  const { body } = call;
  return (
    wrongTexts(body) ??
    outOfRange(body, limits) ??
    notWhole(body) ??
    wrongStream(body) ??
    wrongSize(call) ??
    wrongTogether(call)
  );
}

function notWhole(body: Json): Failure | undefined {
  const param = [...limits.keys()].find(
    (name) => body[name] !== undefined && !Number.isInteger(body[name]),
  );
  return (
    (param && {
      message: `Invalid type for '${param}': expected an integer.`,
      param,
      code: "invalid_type",
    }) ||
    undefined
  );
}

/** The checks of both endpoints, once the fields are known and have their types. */
export function refuseBroken(call: Call): void {
  const failure = broken(call);
  if (failure) throw new Refusal(400, failure);
}

export const generationsStrict: readonly Check[] = [
  refuseWhen((body) => unknownParameter(unknownField(body, fields))),
  refuseBroken,
];

/** A form has nothing but texts: unknown and repeated names are refused, and numbers and flags read. */
export function editFieldsOf({ body, model }: Call): Json {
  const can = imageModel(model);
  const param = unknownField(body, editFields);
  if (param !== undefined) throw new Refusal(400, unknownParameter(param)!);
  const refused = [
    ...(can.fidelity ? [] : ["input_fidelity"]),
    ...(can.moderationAtEdits ? [] : ["moderation"]),
  ].find((name) => body[name] !== undefined);
  if (refused !== undefined) throw new Refusal(400, unknownParameter(refused)!);
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typed(name, value)]),
  );
}

function typed(name: string, value: unknown): unknown {
  if (Array.isArray(value)) {
    throw new Refusal(400, {
      message: `Duplicate parameter: '${name}'. You provided multiple values for this parameter, whereas only one is allowed.`,
      param: name,
      code: "duplicate_parameter",
    });
  }
  const told = asText(value);
  if (limits.has(name) && /^-?\d{1,9}$/.test(told)) return Number(told);
  if (name === "stream" && (told === "true" || told === "false")) return told === "true";
  return value;
}
