/** Decodes content of the OpenAI-style protocols: a string or a list of parts. Requirements: TXT, T25. */
import { isObject, type WireObject } from "../base/json.ts";
import { keepMarker } from "./cache-marker.ts";
import type { JsonObject, MediaPart, MediaSource, NativeField, Part } from "./canonical/request.ts";
import { audioFormat, audioMediaType, parseMediaUrl } from "./media-url.ts";
import { keepUnknown, keepUnknownIn } from "./native.ts";
import { list, nonEmpty, objectOf, isEmptyList } from "./read.ts";

/** The keys that are read, by kind of part. */
export type KnownKeys = Readonly<Record<string, ReadonlySet<string>>>;

/** The keys that are read in `input_audio`. */
export const audioKeys: ReadonlySet<string> = new Set(["data", "format"]);

/** Describes a protocol's parts: their decoder (undefined for parts that no other protocol knows) and the keys that it reads. */
interface PartReader {
  readonly decode: (wire: WireObject) => Part | undefined;
  readonly knownKeys: KnownKeys;
  /** The keys that are read in nested objects, by the key of the object. */
  readonly within?: KnownKeys;
  /** Lists that mean nothing when empty. */
  readonly echoed?: ReadonlySet<string>;
  /** True if parts may have cache markers. */
  readonly hasMarkers?: boolean;
}

/** Decodes content. Unknown parts and keys are noted in `native` under their path, such as `messages[0].content[2]`. */
export function decodeParts(
  content: unknown,
  param: string,
  native: NativeField[],
  reader: PartReader,
): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  const parts: Part[] = [];
  for (const [index, wire] of list(content).entries()) {
    const place = `${param}[${index}]`;
    const part = isObject(wire) ? reader.decode(wire) : undefined;
    if (!part || !isObject(wire)) {
      native.push({ param: place, value: wire });
      continue;
    }
    parts.push(part);
    keepRest(wire, place, reader, native);
  }
  return parts;
}

/** Notes the keys of a decoded part that no other protocol knows. */
function keepRest(
  wire: WireObject,
  place: string,
  { knownKeys, within = {}, echoed, hasMarkers = false }: PartReader,
  native: NativeField[],
): void {
  const known = knownKeys[String(wire["type"])]!;
  const says = (key: string): boolean => !(echoed?.has(key) && isEmptyList(wire[key]));
  const rest = Object.keys(wire)
    .filter(says)
    .map((key) => [key, wire[key]] as const);
  keepUnknown(Object.fromEntries(rest), known, place, native);
  for (const [key, keys] of Object.entries(within)) {
    if (known.has(key)) keepUnknownIn(wire, key, { known: keys, prefix: place, native });
  }
  if (hasMarkers && known.has("cache_control")) keepMarker(wire, place, native);
}

/** Decodes an `input_audio` part; undefined without data. */
export function decodeAudio(wire: WireObject): MediaPart | undefined {
  const { data, format } = objectOf(wire["input_audio"]);
  if (typeof data !== "string") return undefined;
  const mediaType = audioMediaType(nonEmpty(format) ?? "wav");
  return { type: "media", media: "audio", source: { kind: "base64", mediaType, data } };
}

/** Encodes audio as an `input_audio` part; empty unless the source is base64, which is all that the part can carry. */
export function encodeAudio({ source }: MediaPart): JsonObject[] {
  if (source.kind !== "base64") return [];
  const input = { data: source.data, format: audioFormat(source.mediaType) };
  return [{ type: "input_audio", input_audio: input }];
}

/** Reads `file_data` of a file part: a `data:` URL, or bare base64, which counts as a PDF. */
export const fileDataSource = (data: string): MediaSource =>
  data.startsWith("data:")
    ? parseMediaUrl(data)
    : { kind: "base64", mediaType: "application/pdf", data };

/** Joins the texts of parts as paragraphs. */
export const joinText = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** Returns the paragraph break between two messages that become one text; "" if white space is already there. */
export const breakBetween = (before: string, after: string): string =>
  before === "" || /\s$/.test(before.slice(-1)) || /^\s/.test(after) ? "" : "\n\n";
