/** Decodes and encodes the content of responses items: strings and parts. Requirements: RESP, T25, T27. */
import type { WireObject } from "../../base/json.ts";
import type {
  JsonObject,
  MediaPart,
  MediaSource,
  NativeField,
  Part,
} from "../canonical/request.ts";
import {
  audioKeys,
  decodeAudio,
  decodeParts,
  encodeAudio,
  fileDataSource,
  type KnownKeys,
} from "../content-parts.ts";
import { formatMediaUrl, partInPicture, parseMediaUrl } from "../media-url.ts";
import { member, nonEmpty } from "../read.ts";

const knownKeys: KnownKeys = {
  input_text: new Set(["type", "text"]),
  output_text: new Set(["type", "text"]),
  text: new Set(["type", "text"]),
  refusal: new Set(["type", "refusal"]),
  input_image: new Set(["type", "image_url", "file_id", "detail"]),
  input_file: new Set(["type", "file_data", "file_url", "file_id", "filename"]),
  input_audio: new Set(["type", "input_audio"]),
};
const within = { input_audio: audioKeys };

/** Members that a model's own text is sent back with: mostly empty lists, which can be dropped without loss. */
const echoed = new Set(["annotations", "logprobs"]);

/** Decodes an item's content. Parts that no other protocol knows are noted under their path, such as `input[0].content[2]`. */
export const decodeContent = (content: unknown, param: string, native: NativeField[]): Part[] =>
  decodeParts(content, param, native, { decode: decodePart, knownKeys, within, echoed });

function decodePart(wire: WireObject): Part | undefined {
  switch (wire["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      // A request is checked, but a vendor may send null.
      return { type: "text", text: nonEmpty(wire["text"]) ?? "" };
    case "refusal":
      return { type: "refusal", text: nonEmpty(wire["refusal"]) ?? "" };
    case "input_image":
      return decodeImage(wire);
    case "input_file":
      return decodeFile(wire);
    case "input_audio":
      return decodeAudio(wire);
    default:
      return undefined;
  }
}

function decodeImage(wire: WireObject): MediaPart | undefined {
  const url = nonEmpty(wire["image_url"]);
  const fileId = nonEmpty(wire["file_id"]);
  if (url === undefined && fileId === undefined) return undefined;
  const source: MediaSource =
    url === undefined ? { kind: "file_id", fileId: fileId! } : parseMediaUrl(url);
  return partInPicture(source, nonEmpty(wire["detail"]));
}

function decodeFile(wire: WireObject): MediaPart | undefined {
  const source = fileSource(wire);
  if (!source) return undefined;
  const filename = nonEmpty(wire["filename"]);
  const file: MediaPart = { type: "media", media: "file", source };
  return filename === undefined ? file : { ...file, filename };
}

function fileSource(wire: WireObject): MediaSource | undefined {
  const data = nonEmpty(wire["file_data"]);
  if (data !== undefined) return fileDataSource(data);
  const url = nonEmpty(wire["file_url"]);
  if (url !== undefined) return { kind: "url", url };
  const fileId = nonEmpty(wire["file_id"]);
  return fileId === undefined ? undefined : { kind: "file_id", fileId };
}

/** Encodes user and tool content as input parts; kinds without a part are left out. */
export function encodeInput(parts: readonly Part[]): JsonObject[] {
  return parts.flatMap((part) => {
    if (part.type === "text") return [{ type: "input_text", text: part.text }];
    return part.type === "media" ? encodeMedia(part) : [];
  });
}

function encodeMedia(part: MediaPart): JsonObject[] {
  const { media, source, detail, filename } = part;
  const url = formatMediaUrl(source);
  const fileId = member("file_id", source.kind === "file_id" ? source.fileId : undefined);
  if (media === "image") {
    const image = url === undefined ? fileId : { image_url: url };
    return [{ type: "input_image", ...image, detail: detail ?? "auto" }];
  }
  if (media === "audio") return encodeAudio(part);
  if (media !== "file") return [];
  const data = member(source.kind === "base64" ? "file_data" : "file_url", url);
  return [{ type: "input_file", ...data, ...fileId, ...member("filename", filename) }];
}
