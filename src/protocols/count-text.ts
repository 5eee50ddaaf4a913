/** Sizes of a request's input, read without decoding it: for the estimate that reserves a call's upper bound. */
import { isObject } from "../base/json.ts";
import { bareType } from "../base/media-types.ts";

/** Chinese, Japanese and Korean, and pictographs: such a character is most of a token, where one of other scripts is a third. */
const firstWide = 0x2e80;
const wide16 = /[\u2e80-\uffff]/;
const wideWeight = 2.5;
/** Of a longer text so many characters are looked at, evenly. */
const looksMax = 512;

/** Characters of a text, those that are more of a token for what they are. */
export function textCharacters(text: string): number {
  // V8 keeps most texts in a byte a character, and knows without a look that no such one is there.
  if (!wide16.test(text)) return text.length;
  const step = Math.ceil(text.length / looksMax);
  let wide = 0;
  for (let at = 0; at < text.length; at += step) if (text.charCodeAt(at) >= firstWide) wide += 1;
  return text.length + Math.round(wide * step * (wideWeight - 1));
}

/** Characters of all strings and keys within a JSON value; a number counts as one token's worth. */
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

/** Bytes of data in base64: a model reads a file of text as it reads a prompt. 0 for what is no text, such as a picture. */
export function textInData(mediaType: unknown, base64: unknown): number {
  if (typeof mediaType !== "string" || typeof base64 !== "string") return 0;
  return isTextType(mediaType) ? Math.ceil((base64.length * 3) / 4) : 0;
}

/** Whether a file of this type is text. */
export const isTextType = (mediaType: string): boolean => textTypes.test(bareType(mediaType));

const headMax = 200;

/** The same of a `data:` URL; 0 for any other text. */
export function textInDataUrl(url: unknown): number {
  if (typeof url !== "string") return 0;
  const [, mediaType] = /^data:([^,]*),/i.exec(url.slice(0, headMax)) ?? [];
  return textInData(mediaType, url);
}
