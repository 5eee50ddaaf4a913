/** What the ark-like vendor refuses when a video task is created. */
import { entriesOf } from "../checks.ts";
import type { Rule } from "../fields.ts";
import {
  flag,
  integer,
  isWebAddress,
  list,
  object,
  oneOf,
  text,
  wrongField,
  wrongImageAddress,
} from "../fields.ts";
import type { Json } from "../json.ts";
import { asObject, asText } from "../json.ts";
import type { Call, Check } from "../vendor.ts";
import { invalidParameter, missingParameter } from "./errors.ts";

const rules = {
  model: text,
  content: list,
  resolution: oneOf("480p", "720p", "1080p"),
  ratio: oneOf("16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"),
  duration: integer(1, 15),
  frames: integer(29, 289),
  seed: integer(-1, 2 ** 32 - 1),
  camera_fixed: flag,
  watermark: flag,
  generate_audio: flag,
  service_tier: oneOf("default", "flex"),
  execution_expires_after: integer(3600, 259_200),
  priority: integer(0, 9),
  safety_identifier: text,
};

function refuseWrongFields({ body }: Call): void {
  for (const name of ["model", "content"]) {
    if (body[name] === undefined) throw missingParameter(name);
  }
  const wrong = wrongField(body, rules);
  if (wrong) throw invalidParameter(wrong.field, wrong.fault);
  if (body["duration"] !== undefined && body["frames"] !== undefined) {
    throw invalidParameter("frames", "only one of duration and frames may be given");
  }
}

/** What stands in a part of the content beside its type, and which roles it may have. */
const parts: Readonly<Record<string, readonly string[]>> = {
  text: [],
  image_url: ["first_frame", "last_frame", "reference_image"],
  video_url: ["reference_video"],
  audio_url: ["reference_audio"],
};

function refuseWrongPart(part: Json, place: string): void {
  const type = asText(part["type"]);
  const roles = Object.hasOwn(parts, type) ? parts[type]! : undefined;
  if (!roles) throw invalidParameter(`${place}.type`, `unknown type '${type}'`);
  const own: Readonly<Record<string, Rule>> =
    type === "text" ? { text } : { [type]: object, role: oneOf(...roles) };
  const wrong = wrongField(part, { ...own, type: text });
  if (wrong) throw invalidParameter(`${place}.${wrong.field}`, wrong.fault);
  if (part[type] === undefined) throw missingParameter(`${place}.${type}`);
  if (type === "text") return;
  const { url } = asObject(part[type]);
  const fault = wrongAddress(type, url);
  if (fault) throw invalidParameter(`${place}.${type}.url`, fault);
}

function wrongAddress(type: string, url: unknown): string | undefined {
  if (asText(url).startsWith("asset://")) return undefined;
  if (type === "image_url") return wrongImageAddress(url);
  return isWebAddress(asText(url)) ? undefined : "expected an http(s) address";
}

function refuseWrongContent({ body }: Call): void {
  const content = entriesOf(body["content"]);
  if (content.length === 0) throw missingParameter("content");
  for (const [index, part] of content) refuseWrongPart(part, `content[${index}]`);
  const images = content.map(([, part]) => part).filter((part) => part["type"] === "image_url");
  const count = (role: string) => images.filter((part) => part["role"] === role).length;
  const unnamed = images.filter((part) => part["role"] === undefined).length;
  const [first, last] = [count("first_frame") + unnamed, count("last_frame")];
  const references = content.some(([, part]) => asText(part["role"]).startsWith("reference"));
  if (unnamed > 0 && images.length > 1) {
    throw invalidParameter("content", "with more than one image each needs a role");
  }
  if (first > 1 || last > 1) throw invalidParameter("content", "one frame of each role at most");
  if (last > 0 && first === 0) throw invalidParameter("content", "last_frame needs first_frame");
  if (references && first + last > 0) {
    throw invalidParameter("content", "frames and references cannot be used together");
  }
}

export const tasksStrict: readonly Check[] = [refuseWrongFields, refuseWrongContent];
