/**
 * The true type of a picture, from its bytes. Many clients label every picture as JPEG, which most vendors ignore; Anthropic and Bedrock refuse
 * a picture that is not what its label says.
 */
import type { MediaPart } from "./canonical/request.ts";

/** As many characters of base64 as have the bytes of every signature. */
const headCharacters = 16;
const headBytes = 12;

/** Returns the media type of a picture in base64; undefined for another format than the four that every vendor reads. */
function typeOf(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, headCharacters), "base64");
  if (head.length < headBytes) return undefined;
  const text = head.toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/u.test(text)) return "image/gif";
  return /^RIFF.{4}WEBP/su.test(text) ? "image/webp" : undefined;
}

/** Returns a picture with the type of its bytes; the same part if it has that, is no picture, or has no bytes here. */
export function withTrueType(part: MediaPart): MediaPart {
  const { media, source } = part;
  if (media !== "image" || source.kind !== "base64") return part;
  const mediaType = typeOf(source.data);
  if (mediaType === undefined || mediaType === source.mediaType) return part;
  return { ...part, source: { ...source, mediaType } };
}
