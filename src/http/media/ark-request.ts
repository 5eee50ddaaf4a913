/**
 * Converts Ark's creation body to the fields of `POST /v1/tasks`: takes its `content` list apart, and renames its fields.
 * docs/media.md.
 */
import { refusal } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import { referencesMax } from "../../media/index.ts";

/** Our name of each field that Ark names differently. */
const ourNames: Readonly<Record<string, string>> = {
  ratio: "aspect_ratio",
  generate_audio: "audio",
  safety_identifier: "user",
  callback_url: "webhook_url",
};

const roles: Readonly<Record<string, string>> = { image: "first_frame", last_frame: "last_frame" };

const fromContent: ReadonlySet<string> = new Set([
  "prompt",
  "image",
  "last_frame",
  "reference_images",
]);

/** For each of our fields its place in the caller's body, such as `content[1].image_url` for `image`. */
type Places = Map<string, string>;

export interface ArkBody {
  /** The fields under our names, in the body's order. */
  readonly fields: Record<string, unknown>;
  readonly places: ReadonlyMap<string, string>;
}

/**
 * Converts a body. @throws GatewayError for a `content` that is malformed or not supported, and
 * for a field in both spellings, because one of them would be lost
 */
export function arkBody(body: Readonly<Record<string, unknown>>): ArkBody {
  refuseOtherVideos(body);
  const fields = new Map<string, unknown>();
  const places: Places = new Map();
  for (const [place, given] of Object.entries(body)) {
    const content = place === "content" ? materialOf(given) : undefined;
    for (const [name, value] of content?.fields ?? [[ourName(place), given] as const]) {
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
    for (const [name, item] of content?.places ?? []) places.set(name, item);
  }
  refuseRoles(fields, places);
  return { fields: Object.fromEntries(fields), places };
}

/**
 * Refuses the fields that ask for a shorter or a cheaper video. Other fields without an effect are dropped and noted, but without these the
 * caller would pay for another video, and Ark's answer has no place for a note.
 */
function refuseOtherVideos({ frames, draft }: Readonly<Record<string, unknown>>): void {
  if ((frames ?? null) !== null)
    throw refusal("unsupported_parameter", "frames", "is not supported; send duration, in seconds");
  if ((draft ?? false) !== false)
    throw refusal("unsupported_parameter", "draft", "is not supported; leave it out");
}

/** Refuses what the rules of material would refuse, but by the names of roles. A `media` list is left to those rules. */
function refuseRoles(fields: ReadonlyMap<string, unknown>, places: Places): void {
  const has = (name: string) => (fields.get(name) ?? null) !== null;
  if (has("media")) return;
  const refuse = (place: string, why: string) => {
    throw refusal("invalid_value", `${place.replace(/\.image_url$/, "")}.role`, why);
  };
  const reference = places.get(referenceAt(0));
  const frame = ["image", "last_frame"].find(has);
  if (reference !== undefined && frame !== undefined)
    refuse(reference, `reference_image cannot be combined with ${roles[frame]}`);
  const lastFrame = places.get("last_frame");
  if (lastFrame?.startsWith("content[") && !has("image"))
    refuse(lastFrame, "last_frame needs first_frame as well");
  if (places.has(referenceAt(referencesMax)))
    throw refusal(
      "too_many_images",
      "content",
      `must have at most ${referencesMax} of the role reference_image`,
    );
}

const referenceAt = (index: number): string => `reference_images[${index}]`;

const ourName = (place: string): string =>
  Object.hasOwn(ourNames, place) ? ourNames[place]! : place;

/** Returns the caller's name of one of our fields, or of a part of one. */
export function arkParam(param: string, places: ReadonlyMap<string, string>): string {
  const [, name = "", index = "", rest = ""] = /^(\w+)(\[\d+\])?(.*)$/s.exec(param) ?? [];
  const item = places.get(name + index);
  if (item !== undefined) return item + rest;
  const place = places.get(name);
  if (place !== undefined) return place === "content" ? place : place + index + rest;
  if (fromContent.has(name)) return "content";
  const theirs = Object.keys(ourNames).find((one) => ourNames[one] === name);
  return theirs === undefined ? param : theirs + index + rest;
}

interface Material {
  prompt?: string;
  image?: { readonly url: unknown };
  last_frame?: { readonly url: unknown };
  reference_images?: { readonly url: unknown }[];
}

/** The contents read so far: our fields, members that none of them stands for, and the places of pictures. */
interface Content {
  readonly material: Material;
  readonly unread: [place: string, value: unknown][];
  readonly places: Places;
}

function materialOf(content: unknown): {
  readonly fields: readonly (readonly [string, unknown])[];
  readonly places: Places;
} {
  if (!Array.isArray(content)) throw refusal("invalid_type", "content", "must be an array");
  const read: Content = { material: {}, unread: [], places: new Map() };
  const pictures = content.filter((item) => isObject(item) && item["type"] === "image_url").length;
  for (const [index, item] of content.entries())
    addItem(read, { item, place: `content[${index}]`, isOnlyPicture: pictures === 1 });
  return { fields: [...Object.entries(read.material), ...read.unread], places: read.places };
}

/** Collects the members that are not read, so that they are reported like unknown fields. */
function collectUnread(
  { unread }: Content,
  value: Readonly<Record<string, unknown>>,
  { place, known }: { readonly place: string; readonly known: readonly string[] },
): void {
  for (const [name, member] of Object.entries(value))
    if (!known.includes(name)) unread.push([`${place}.${name}`, member]);
}

interface Item {
  readonly item: unknown;
  readonly place: string;
  /** True for the only picture, which needs no role. */
  readonly isOnlyPicture: boolean;
}

function addItem(content: Content, { item, place, isOnlyPicture }: Item): void {
  if (!isObject(item)) throw refusal("invalid_type", place, "must be an object");
  const { material } = content;
  switch (item["type"]) {
    case "text": {
      const { text } = item;
      if (typeof text !== "string")
        throw refusal("invalid_type", `${place}.text`, "must be a string");
      material.prompt = material.prompt === undefined ? text : `${material.prompt}\n${text}`;
      collectUnread(content, item, { place, known: ["type", "text"] });
      return;
    }
    case "image_url": {
      const { image_url: address } = item;
      if (!isObject(address))
        throw refusal("invalid_type", `${place}.image_url`, "must be an object {url}");
      collectUnread(content, item, { place, known: ["type", "image_url", "role"] });
      collectUnread(content, address, { place: `${place}.image_url`, known: ["url"] });
      addPicture(content, address["url"], {
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
  { material, places }: Content,
  url: unknown,
  { place, role }: { readonly place: string; readonly role: unknown },
): void {
  if (role === "reference_image") {
    const references = (material.reference_images ??= []);
    places.set(referenceAt(references.length), `${place}.image_url`);
    references.push({ url });
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
  places.set(name, `${place}.image_url`);
}
