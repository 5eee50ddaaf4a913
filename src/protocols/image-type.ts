/**
 * The true type of a picture, from its bytes. Many clients label every picture as JPEG, which most vendors ignore; Anthropic and Bedrock refuse
 * a picture that is not what its label says.
 */
import { mediaTypeBytes, mediaTypeOf } from "../base/media-type.ts";
import type { MediaPart } from "./canonical/request.ts";

/** As many characters of base64 as have the bytes of every mark, in whole groups of four. */
const headCharacters = Math.ceil(mediaTypeBytes / 3) * 4;
/** The bytes of the longest mark, WebP's. */
const headBytes = 12;

/** Returns the media type of a picture in base64; undefined for another format than the four that every vendor reads. */
export function pictureTypeOf(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, headCharacters), "base64");
  if (head.length < headBytes) return undefined;
  if (/^GIF8[79]a/u.test(head.toString("latin1"))) return "image/gif";
  const type = mediaTypeOf(head);
  return type?.startsWith("image/") === true ? type : undefined;
}

/** Returns a picture with the type of its bytes; the same part if it has that, is no picture, or has no bytes here. */
export function withTrueType(part: MediaPart): MediaPart {
  const { media, source } = part;
  if (media !== "image" || source.kind !== "base64") return part;
  const mediaType = pictureTypeOf(source.data);
  if (mediaType === undefined || mediaType === source.mediaType) return part;
  return { ...part, source: { ...source, mediaType } };
}
