/** Decodes and encodes the content of chat messages: strings and parts. Requirements: TXT, T25, T27. */
import type { WireObject } from "../../base/json.ts";
import { markerOf } from "../cache-marker.ts";
import type {
  CacheBreakpoint,
  Json,
  JsonObject,
  MediaPart,
  NativeField,
  Part,
} from "../canonical/request.ts";
import {
  audioKeys,
  decodeAudio,
  decodeParts,
  encodeAudio,
  fileDataSource,
  joinText,
  type KnownKeys,
} from "../content-parts.ts";
import { formatMediaUrl, partInPicture, parseMediaUrl } from "../media-url.ts";
import { member, objectOf } from "../read.ts";

const knownKeys: KnownKeys = {
  text: new Set(["type", "text", "cache_control"]),
  refusal: new Set(["type", "refusal"]),
  image_url: new Set(["type", "image_url", "cache_control"]),
  input_audio: new Set(["type", "input_audio", "cache_control"]),
  video_url: new Set(["type", "video_url", "cache_control"]),
  file: new Set(["type", "file", "cache_control"]),
  // Among the content of answers only. Their signature is lost with them.
  thinking: new Set(["type", "thinking", "closed", "signature"]),
  reasoning: new Set(["type", "summary"]),
};

const within = {
  image_url: new Set(["url", "detail"]),
  video_url: new Set(["url"]),
  input_audio: audioKeys,
  file: new Set(["file_data", "file_id", "filename"]),
};

/**
 * Decodes a message's content. Parts that no other protocol knows are noted under their path, such as `messages[0].content[2]`.
 * @param decodeOther reads parts of further kinds, by `knownKeys` too
 */
export const decodeContent = (
  content: unknown,
  param: string,
  native: NativeField[],
  decodeOther: (wire: WireObject) => Part | undefined = () => undefined,
): Part[] =>
  decodeParts(content, param, native, {
    decode: (wire) => decodePart(wire) ?? decodeOther(wire),
    knownKeys,
    within,
    hasMarkers: true,
  });

function decodePart(wire: WireObject): Part | undefined {
  if (wire["type"] === "text" && typeof wire["text"] === "string") {
    return { type: "text", text: wire["text"], ...decodeCache(wire) };
  }
  if (wire["type"] === "refusal" && typeof wire["refusal"] === "string") {
    return { type: "refusal", text: wire["refusal"] };
  }
  const media = decodeMedia(wire);
  return media ? { ...media, ...decodeCache(wire) } : undefined;
}

function decodeMedia(wire: WireObject): MediaPart | undefined {
  switch (wire["type"]) {
    case "image_url": {
      const picture = wire["image_url"];
      const { url, detail } = typeof picture === "string" ? { url: picture } : objectOf(picture);
      if (typeof url !== "string") return undefined;
      return partInPicture(parseMediaUrl(url), typeof detail === "string" ? detail : undefined);
    }
    case "video_url": {
      // Qwen and vLLM only; OpenAI has no video input.
      const { url } = objectOf(wire["video_url"]);
      if (typeof url !== "string") return undefined;
      return { type: "media", media: "video", source: parseMediaUrl(url) };
    }
    case "input_audio":
      return decodeAudio(wire);
    case "file":
      return decodeFile(objectOf(wire["file"]));
    default:
      return undefined;
  }
}

function decodeFile(file: WireObject): MediaPart | undefined {
  const { file_data: data, file_id: fileId, filename } = file;
  const named = typeof filename === "string" ? { filename } : {};
  if (typeof data === "string") {
    return { type: "media", media: "file", source: fileDataSource(data), ...named };
  }
  if (typeof fileId !== "string") return undefined;
  return { type: "media", media: "file", source: { kind: "file_id", fileId }, ...named };
}

function decodeCache(wire: WireObject): { cache?: CacheBreakpoint } {
  const cache = markerOf(wire);
  return cache === undefined ? {} : { cache };
}

/** Encodes a user's content: only texts as one string, otherwise parts. Every upstream accepts strings; some refuse lists of texts. */
export function encodeContent(parts: readonly Part[]): Json {
  if (parts.every(({ type }) => type === "text")) return joinText(parts);
  return parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "media" ? encodeMedia(part) : [];
  });
}

/** Encodes a media part; empty for a source that the protocol cannot express. */
export function encodeMedia(part: MediaPart): JsonObject[] {
  const { media, source, detail, filename } = part;
  const url = formatMediaUrl(source);
  if (media === "file") return [{ type: "file", file: encodeFile(part, filename) }];
  if (media === "audio") return encodeAudio(part);
  if (url === undefined) return [];
  if (media === "video") return [{ type: "video_url", video_url: { url } }];
  return [{ type: "image_url", image_url: detail === undefined ? { url } : { url, detail } }];
}

function encodeFile({ source }: MediaPart, filename: string | undefined): JsonObject {
  const named = member("filename", filename);
  if (source.kind === "file_id") return { file_id: source.fileId, ...named };
  return { file_data: formatMediaUrl(source)!, ...named };
}
