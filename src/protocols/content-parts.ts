/** Content as the OpenAI-style protocols have it: a string or a list of parts. Requirements: TXT, T25. */
import { isObject, type WireObject } from "../base/json.ts";
import type { JsonObject, MediaPart, MediaSource, NativeField, Part } from "./canonical/request.ts";
import { audioFormat, audioMediaType, parseMediaUrl } from "./media-url.ts";
import { keepUnknown } from "./native.ts";
import { list, nonEmpty, objectOf } from "./read.ts";

/** A protocol's parts: how one is read (undefined where no other protocol knows it), and the keys that are read. */
interface PartReader {
  readonly decode: (wire: WireObject) => Part | undefined;
  readonly knownKeys: ReadonlySet<string>;
  /** The keys that are read within one of these, where it is an object. */
  readonly within?: Readonly<Record<string, ReadonlySet<string>>>;
}

/** Reads content. What the reader does not know is noted in `native` under its place, such as `messages[0].content[2]`. */
export function decodeParts(
  content: unknown,
  param: string,
  native: NativeField[],
  { decode, knownKeys, within = {} }: PartReader,
): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts: Part[] = [];
  for (const [index, wire] of list(content).entries()) {
    const place = `${param}[${index}]`;
    const part = isObject(wire) ? decode(wire) : undefined;
    if (!part || !isObject(wire)) {
      native.push({ param: place, value: wire });
      continue;
    }
    parts.push(part);
    keepUnknown(wire, knownKeys, place, native);
    for (const [key, keys] of Object.entries(within)) {
      if (isObject(wire[key])) keepUnknown(wire[key], keys, `${place}.${key}`, native);
    }
  }
  return parts;
}

/** An `input_audio` part; undefined without data. */
export function decodeAudio(wire: WireObject): MediaPart | undefined {
  const { data, format } = objectOf(wire["input_audio"]);
  if (typeof data !== "string") return undefined;
  const mediaType = audioMediaType(nonEmpty(format) ?? "wav");
  return { type: "media", media: "audio", source: { kind: "base64", mediaType, data } };
}

/** The `input_audio` part of audio; none where it is no base64 data, which is all the part can carry. */
export function encodeAudio({ source }: MediaPart): JsonObject[] {
  if (source.kind !== "base64") return [];
  const input = { data: source.data, format: audioFormat(source.mediaType) };
  return [{ type: "input_audio", input_audio: input }];
}

/** The `file_data` of a file part: a `data:` URL, or bare base64, which is taken for a PDF. */
export const fileDataSource = (data: string): MediaSource =>
  data.startsWith("data:")
    ? parseMediaUrl(data)
    : { kind: "base64", mediaType: "application/pdf", data };

/** All text of some parts; several texts are paragraphs of one. */
export const joinText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
