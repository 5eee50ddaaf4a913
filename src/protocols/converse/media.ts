/** Encodes media for Converse: bytes with the short name of their format, in a block of their kind. */
import { bareType } from "../../base/media-types.ts";
import { member } from "../read.ts";
import type { JsonObject, MediaPart } from "../canonical/request.ts";

type Kind = MediaPart["media"];

/** The formats of each kind, by media type without parameters. */
const formats: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  image: {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
  },
  audio: {
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/mp4": "mp4",
    "audio/ogg": "ogg",
    "audio/opus": "opus",
    "audio/webm": "webm",
    "audio/m4a": "m4a",
  },
  video: {
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
  },
  file: {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
  },
};

/** Returns the vendor's name for a media type; undefined if the vendor does not accept the type. */
export function formatOf(mediaType: string, kind: Kind): string | undefined {
  const known = formats[kind];
  const bare = bareType(mediaType).trim().toLowerCase();
  return Object.hasOwn(known, bare) ? known[bare] : undefined;
}

/** Encodes media as a block; `number` numbers the documents of a request. `fit` has already removed everything that is not base64. */
export function encodeMedia(
  { media, source, filename, context }: MediaPart,
  number: () => number,
): JsonObject | undefined {
  if (source.kind !== "base64") return undefined;
  const format = formatOf(source.mediaType, media);
  if (format === undefined) return undefined;
  const block: JsonObject = { format, source: { bytes: source.data } };
  if (media !== "file") return { [media]: block };
  const named = { ...block, name: documentName(filename, number()) };
  return { document: { ...named, ...member("context", context) } };
}

const nameMax = 180;

/**
 * The vendor accepts letters, digits, single spaces, hyphens and brackets, and requires unique names. Only the first name goes without its
 * number, unless it ends like a numbered one.
 */
function documentName(filename: string | undefined, number: number): string {
  const plain = (filename ?? "document")
    .replace(/[^a-zA-Z0-9\s()[\]-]/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, nameMax)
    .trimEnd();
  const name = plain === "" ? "document" : plain;
  return number === 1 && !/ \d+$/.test(name) ? name : `${name} ${number}`;
}
