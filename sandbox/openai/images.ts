/**
 * `POST /openai/v1/images/generations` (JSON) and `/images/edits` (form): real pictures of the asked size and format,
 * whole or with partial pictures before them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { failureToldBy } from "../jobs.ts";
import type { Json } from "../json.ts";
import { asNumber, asText } from "../json.ts";
import type { Encoding, Picture, Size } from "../pictures.ts";
import { colourOf, edit, paint, UnreadablePicture } from "../pictures.ts";
import type { Script } from "../script-fields.ts";
import type { Failure } from "../refusal.ts";
import type { Call, Frame, MediaRoute, Rendering } from "../vendor.ts";
import { Refusal } from "../refusal.ts";
import { openaiError } from "./errors.ts";
import { imageUsage } from "./image-tokens.ts";
import type { Uploads } from "./image-uploads.ts";
import { unreadable, uploadsOf } from "./image-uploads.ts";
import {
  editFieldsOf,
  generationsStrict,
  imageModel,
  pixelsOf,
  refuseBroken,
} from "./images-strict.ts";

/** One request, understood. */
interface Order {
  readonly kind: "image_generation" | "image_edit";
  readonly model: string;
  readonly prompt: string;
  readonly fields: Json;
  readonly uploads: Uploads | undefined;
  readonly encoding: Encoding;
  /** What `auto` comes to here. */
  readonly quality: string;
  readonly size: Size;
  readonly count: number;
  readonly partials: number;
}

const areaMax = 3840 * 2160;
const presets: readonly Size[] = [
  { width: 1024, height: 1024 },
  { width: 1536, height: 1024 },
  { width: 1024, height: 1536 },
];

const ratio = ({ width, height }: Size) => Math.log(width / height);

/** The asked size; `auto` is the first picture's own, where the model can, or the preset of the closest shape. */
function sizeOf(model: string, fields: Json, uploads: Uploads | undefined): Size {
  const asked = pixelsOf(asText(fields["size"]));
  if (asked) return { width: asked[0], height: asked[1] };
  const source = uploads?.images[0].info;
  if (!source) return presets[0]!;
  const fits = source.width * source.height <= areaMax;
  if (fits && imageModel(model).customSizes) return { width: source.width, height: source.height };
  const distance = (size: Size) => Math.abs(ratio(size) - ratio(source));
  return presets.toSorted((one, other) => distance(one) - distance(other))[0]!;
}

function orderOf({ model }: Call, fields: Json, uploads: Uploads | undefined): Order {
  const format = (asText(fields["output_format"]) || "png") as Encoding["format"];
  const quality = asText(fields["quality"]) || "auto";
  return {
    kind: uploads ? "image_edit" : "image_generation",
    model,
    prompt: asText(fields["prompt"]),
    fields,
    uploads,
    encoding: { format, quality: asNumber(fields["output_compression"]) ?? 100 },
    quality: quality === "auto" ? "medium" : quality,
    size: sizeOf(model, fields, uploads),
    count: asNumber(fields["n"]) ?? 1,
    partials: fields["stream"] === true ? (asNumber(fields["partial_images"]) ?? 0) : 0,
  };
}

/** Picture `index` of an order; partial ones differ from the last, which has `stage` 0. */
async function pictureOf(order: Order, index: number, stage = 0): Promise<Picture> {
  const { prompt, size, encoding, uploads, fields } = order;
  const colour = colourOf(`${index} ${stage} ${prompt}`);
  const { background } = fields;
  if (!uploads) {
    return await paint({ size, colour, transparent: background === "transparent" }, encoding);
  }
  const mayBeTransparent =
    background !== "opaque" && encoding.format !== "jpeg" && imageModel(order.model).transparent;
  const source = uploads.images[0].file.path;
  const mask = uploads.mask?.path;
  try {
    return await edit({ source, mask, size, colour, mayBeTransparent }, encoding);
  } catch (error) {
    throw error instanceof UnreadablePicture ? unreadable(1) : error;
  }
}

async function make(order: Order, script: Script): Promise<Rendering> {
  if (script.task_seconds !== undefined) await sleep(script.task_seconds * 1000);
  if (script.task_outcome === "failed") throw new Refusal(500, failureToldBy(script));
  if (script.task_outcome === "blocked") throw new Refusal(400, blocked);
  const pictures: Picture[] = [];
  for (let index = 0; index < order.count; index += 1) pictures.push(await pictureOf(order, index));
  const partials: Picture[] = [];
  for (let stage = order.partials; stage > 0; stage -= 1) {
    partials.push(await pictureOf(order, 0, stage));
  }
  return rendered(order, { pictures, partials, script });
}

const blocked: Failure = {
  message:
    "Your request was rejected by the safety system. safety_violations=[violence]. If you believe this is an error, contact us.",
  type: "image_generation_user_error",
  code: "moderation_blocked",
};

interface Made {
  readonly pictures: readonly Picture[];
  readonly partials: readonly Picture[];
  readonly script: Script;
}

function rendered(order: Order, { pictures, partials, script }: Made): Rendering {
  const createdSeconds = Math.floor(Date.now() / 1000);
  const { encoding, quality, size, uploads } = order;
  const common = {
    background: pictures.some(({ transparent }) => transparent) ? "transparent" : "opaque",
    output_format: encoding.format,
    quality,
    size: `${size.width}x${size.height}`,
  };
  const usage = imageUsage(
    {
      prompt: order.prompt,
      inputs: uploads?.images.map(({ info }) => info) ?? [],
      fidelity: asText(order.fields["input_fidelity"]) || "low",
      outputs: pictures.map((picture) => picture.size),
      quality,
      partials: partials.length,
    },
    script,
  );
  const told = usage ? { usage } : {};
  const revised = script.reply === undefined ? {} : { revised_prompt: script.reply };

  function event(name: string, picture: Picture, rest: Json): Pick<Frame, "event" | "data"> {
    const type = `${order.kind}.${name}`;
    const b64 = picture.bytes.toString("base64");
    const data = { type, b64_json: b64, created_at: createdSeconds, ...common, ...rest };
    return { event: type, data: JSON.stringify(data) };
  }
  function* frames(): Generator<Frame> {
    for (const [index, picture] of partials.entries()) {
      const rest = { partial_image_index: index };
      yield { kind: "content", ...event("partial_image", picture, rest) };
    }
    for (const picture of pictures) yield { kind: "end", ...event("completed", picture, told) };
  }

  return {
    whole: () => ({
      created: createdSeconds,
      data: pictures.map(({ bytes }) => ({ b64_json: bytes.toString("base64"), ...revised })),
      ...common,
      ...told,
    }),
    frames,
    errorFrames: (failure) => {
      const data = { type: "error", ...openaiError(500, failure) };
      return [{ kind: "close", event: "error", data: JSON.stringify(data) }];
    },
  };
}

export const generations: MediaRoute = {
  kind: "media",
  name: "images",
  strict: generationsStrict,
  script: ({ body }, read) => read(asText(body["prompt"])),
  answer: (call, script) => make(orderOf(call, call.body, undefined), script),
};

export const edits: MediaRoute = {
  kind: "media",
  name: "image_edits",
  takes: "form",
  strict: [(call) => refuseBroken({ ...call, body: editFieldsOf(call) })],
  script: ({ body }, read) => read(asText(body["prompt"])),
  async answer(call, script) {
    const fields = editFieldsOf(call);
    return make(orderOf(call, fields, await uploadsOf(call)), script);
  },
};
