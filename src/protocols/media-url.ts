/** Media in the OpenAI-style protocols: an https URL or a `data:` URL, as one string. */
import { bareType, registeredType } from "../base/media-types.ts";
import type { MediaPart, MediaSource } from "./canonical/request.ts";
import { pictureTypeOf } from "./image-type.ts";
import { member } from "./read.ts";

/** Parses such a string. A `data:` URL that is not base64 stays a URL. */
export function parseMediaUrl(url: string): MediaSource {
  const head = /^data:([^;,]*)((?:;[^;,]*)*),/.exec(url.slice(0, 200));
  if (!head || !/;base64$/i.test(head[2]!)) return { kind: "url", url };
  return {
    kind: "base64",
    mediaType: head[1] === "" ? "application/octet-stream" : registeredType(head[1]!),
    data: url.slice(head[0].length),
  };
}

/**
 * Returns what is in a picture's place. Dify and others send videos and sound there too, as `data:` URLs with their type. Bytes of a picture
 * count more than its label. Other types stay: Gemini reads PDF files there.
 */
export function partInPicture(source: MediaSource, detail: string | undefined): MediaPart {
  const media = kindIn(source);
  return media === "image"
    ? { type: "media", media, source, ...member("detail", detail) }
    : { type: "media", media, source, inPicture: true };
}

function kindIn(source: MediaSource): "image" | "audio" | "video" {
  if (source.kind !== "base64" || pictureTypeOf(source.data) !== undefined) return "image";
  const kind = source.mediaType.split("/", 1)[0]!.toLowerCase();
  return kind === "video" || kind === "audio" ? kind : "image";
}

/** Formats base64 data as a `data:` URL, and a URL unchanged; undefined for a file id. */
export function formatMediaUrl(source: MediaSource): string | undefined {
  if (source.kind === "base64") return `data:${source.mediaType};base64,${source.data}`;
  return source.kind === "url" ? source.url : undefined;
}

/** `mp3` becomes `audio/mpeg`, `wav` becomes `audio/wav`: the protocols use formats, the canonical form media types. */
export const audioMediaType = (format: string): string =>
  format === "mp3" ? "audio/mpeg" : `audio/${format}`;

/** Returns the format of an audio media type, without parameters and an `x-`. */
export function audioFormat(mediaType: string): string {
  const subtype = bareType(mediaType).replace(/^audio\/(x-)?/, "");
  return subtype === "mpeg" ? "mp3" : subtype;
}
