/** Measures a request's input without decoding it, for the estimate that reserves a call's upper bound. */
import { isObject } from "../base/json.ts";
import { bareType } from "../base/media-types.ts";

/** The first code unit of Chinese, Japanese, Korean and pictographs: each is most of a token, other characters about a third. */
const firstWide = 0x2e80;
const wide16 = /[\u2e80-\uffff]/;
const wideWeight = 2.5;
/** Longer texts are sampled evenly, at no more than so many characters. */
const looksMax = 512;

/** Returns the weighted length of a text: a wide character counts as 2.5 characters. */
export function textCharacters(text: string): number {
  // V8 stores most texts with one byte per character, and answers this test for them without a scan.
  if (!wide16.test(text)) return text.length;
  const step = Math.ceil(text.length / looksMax);
  let wide = 0;
  for (let at = 0; at < text.length; at += step) if (text.charCodeAt(at) >= firstWide) wide += 1;
  return text.length + Math.round(wide * step * (wideWeight - 1));
}

/** Returns the weighted length of all strings and keys in a JSON value; a number counts as one token (4 characters). */
export function jsonCharacters(value: unknown): number {
  if (typeof value === "string") return textCharacters(value);
  if (typeof value !== "object" || value === null) return 4;
  let characters = 0;
  if (Array.isArray(value)) {
    for (const item of value) characters += jsonCharacters(item);
    return characters;
  }
  if (isObject(value)) {
    for (const key in value) characters += key.length + jsonCharacters(value[key]);
  }
  return characters;
}

const textTypes =
  /^(?:text\/|application\/(?:x-)?(?:json|ndjson|xml|xhtml|yaml|toml|sql|rtf|javascript|typescript|python|sh)\b)/i;

/** Returns the number of bytes in base64 data if it is text, which a model reads like a prompt. 0 for other data, such as a picture. */
export function textInData(mediaType: unknown, base64: unknown): number {
  if (typeof mediaType !== "string" || typeof base64 !== "string") return 0;
  return isTextType(mediaType) ? Math.ceil((base64.length * 3) / 4) : 0;
}

/** True if a file of this type is text. */
export const isTextType = (mediaType: string): boolean => textTypes.test(bareType(mediaType));

const headMax = 200;

/** The same for a `data:` URL; 0 for any other text. */
export function textInDataUrl(url: unknown): number {
  if (typeof url !== "string") return 0;
  const [, mediaType] = /^data:([^,]*),/i.exec(url.slice(0, headMax)) ?? [];
  return textInData(mediaType, url);
}
