/**
 * Converts Ark's creation body to the fields of `POST /v1/tasks`: takes its `content` list apart, and renames its fields.
 * docs/media.md.
 */
import { refusal } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";

/** Our name of each field that Ark names differently. */
const ourNames: Readonly<Record<string, string>> = {
  ratio: "aspect_ratio",
  generate_audio: "audio",
  safety_identifier: "user",
  callback_url: "webhook_url",
};

const fromContent: ReadonlySet<string> = new Set([
  "prompt",
  "image",
  "last_frame",
  "reference_images",
]);

/**
 * Returns the fields of a body under our names, in its order. @throws GatewayError for a `content` that is malformed or not supported, and
 * for a field in both spellings, because one of them would be lost
 */
export function arkFields(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = new Map<string, unknown>();
  const places = new Map<string, string>();
  for (const [place, given] of Object.entries(body)) {
    const named =
      place === "content" ? Object.entries(materialOf(given)) : [[ourName(place), given]];
    for (const [name, value] of named as [string, unknown][]) {
      // `null` is the same as absent.
      if (value === null && fields.has(name)) continue;
      if ((fields.get(name) ?? null) !== null)
        throw refusal(
          "invalid_value",
          place,
          `has the same meaning as ${places.get(name)}; send one`,
        );
      fields.set(name, value);
      places.set(name, place);
    }
  }
  return Object.fromEntries(fields);
}

const ourName = (place: string): string =>
  Object.hasOwn(ourNames, place) ? ourNames[place]! : place;

/** Returns Ark's name of one of our fields. */
export function arkParam(param: string): string {
  const [, name = "", rest = ""] = /^(\w+)(.*)$/s.exec(param) ?? [];
  if (fromContent.has(name)) return "content";
  const theirs = Object.keys(ourNames).find((one) => ourNames[one] === name);
  return theirs === undefined ? param : theirs + rest;
}

interface Material {
  prompt?: string;
  image?: { readonly url: unknown };
  last_frame?: { readonly url: unknown };
  reference_images?: { readonly url: unknown }[];
}

function materialOf(content: unknown): Material {
  if (!Array.isArray(content)) throw refusal("invalid_type", "content", "must be an array");
  const material: Material = {};
  const pictures = content.filter((item) => isObject(item) && item["type"] === "image_url").length;
  for (const [index, item] of content.entries())
    addItem(material, { item, place: `content[${index}]`, isOnlyPicture: pictures === 1 });
  return material;
}

interface Item {
  readonly item: unknown;
  readonly place: string;
  /** True for the only picture, which needs no role. */
  readonly isOnlyPicture: boolean;
}

function addItem(material: Material, { item, place, isOnlyPicture }: Item): void {
  if (!isObject(item)) throw refusal("invalid_type", place, "must be an object");
  switch (item["type"]) {
    case "text": {
      const { text } = item;
      if (typeof text !== "string")
        throw refusal("invalid_type", `${place}.text`, "must be a string");
      material.prompt = material.prompt === undefined ? text : `${material.prompt}\n${text}`;
      return;
    }
    case "image_url": {
      const { image_url: address } = item;
      if (!isObject(address))
        throw refusal("invalid_type", `${place}.image_url`, "must be an object {url}");
      addPicture(material, address["url"], {
        place,
        role: item["role"] ?? (isOnlyPicture && "first_frame"),
      });
      return;
    }
    case "video_url":
    case "audio_url":
    case "draft_task":
      throw refusal("unsupported_parameter", place, `${item["type"]} is not supported`);
    default:
      throw refusal("invalid_value", `${place}.type`, "must be text or image_url");
  }
}

function addPicture(
  material: Material,
  url: unknown,
  { place, role }: { readonly place: string; readonly role: unknown },
): void {
  if (role === "reference_image") {
    (material.reference_images ??= []).push({ url });
    return;
  }
  const name = role === "first_frame" ? "image" : role === "last_frame" ? "last_frame" : undefined;
  if (name === undefined)
    throw refusal(
      "invalid_value",
      `${place}.role`,
      "must be first_frame, last_frame or reference_image",
    );
  if (material[name])
    throw refusal("invalid_value", `${place}.role`, "a role of a frame may be used only once");
  material[name] = { url };
}
