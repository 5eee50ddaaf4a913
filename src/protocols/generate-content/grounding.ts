/**
 * The pages that an answer of generateContent relies on. Its offsets are bytes of UTF-8, of one part in a whole answer and of
 * all text in a stream. CONV-704.
 */
import type { WireObject } from "../../base/json.ts";
import { reportedCount } from "../../base/usage.ts";
import type { Citation, JsonObject } from "../canonical/request.ts";
import { characters, citationOf } from "../citations.ts";
import { list, member, nonEmpty, objectOf, objects } from "../read.ts";

/** A text of an answer, and the number of its part. */
export interface NumberedText {
  readonly part: number;
  readonly text: string;
}

/** What a candidate's `groundingMetadata` and `citationMetadata` cite, of its texts as one. */
export function decodeGrounding(
  candidate: WireObject,
  texts: readonly NumberedText[],
): readonly Citation[] {
  const { groundingMetadata, citationMetadata } = candidate;
  if (groundingMetadata === undefined && citationMetadata === undefined) return [];
  const places = placesOf(texts);
  const { groundingChunks, groundingSupports } = objectOf(groundingMetadata);
  const chunks = objects(groundingChunks).map(pageOf);
  const supported = objects(groundingSupports).flatMap((support) => {
    const span = spanOf(objectOf(support["segment"]), places);
    const pages = list(support["groundingChunkIndices"]).flatMap((at) => chunks[Number(at)] ?? []);
    return pages.map((page) => ({ ...page, ...span }));
  });
  const { citations, citationSources } = objectOf(citationMetadata);
  const repeated = objects(citations ?? citationSources).flatMap((wire) => {
    const span = spanOf(wire, places);
    return citationOf(wire["uri"], { title: wire["title"] }).map((page) => ({ ...page, ...span }));
  });
  // Pages without any words are of the whole answer.
  return [...(supported.length > 0 ? supported : chunks.flat()), ...repeated];
}

/** The page of a chunk: a search's, a map's, a picture's, or one of a store of the caller's. */
function pageOf({ web, maps, image, retrievedContext }: WireObject): Citation[] {
  const { uri, sourceUri, title, text } = objectOf(web ?? maps ?? image ?? retrievedContext);
  return citationOf(uri ?? sourceUri, { title, quote: text });
}

/** A text that offsets may be of, and how many characters stand before it. */
interface Place {
  readonly part: number | undefined;
  readonly bytes: Buffer;
  readonly before: number;
  /** How many characters begin before each byte; counted once, where it is asked. */
  counts?: Uint32Array;
}

function placesOf(texts: readonly NumberedText[]): Place[] {
  let before = 0;
  const places: Place[] = texts.map(({ part, text }) => {
    const place: Place = { part, bytes: Buffer.from(text, "utf8"), before };
    before += characters(text);
    return place;
  });
  const all = Buffer.concat(places.map(({ bytes }) => bytes));
  return [...places, { part: undefined, bytes: all, before: 0 }];
}

type Span = Pick<Citation, "start" | "end">;

/** The characters that a segment is of. Offsets that do not lead to the words they come with are put right by the words. */
function spanOf(segment: WireObject, places: readonly Place[]): Span {
  const { partIndex, startIndex, endIndex } = segment;
  const text = nonEmpty(segment["text"]);
  const part = reportedCount(partIndex) ?? 0;
  const start = reportedCount(startIndex) ?? 0;
  const end = reportedCount(endIndex);
  if (end === undefined || end <= start) return {};
  const words = text === undefined ? undefined : Buffer.from(text, "utf8");
  for (const place of places) {
    const isPart = place.part === undefined || place.part === part;
    if (!isPart || end > place.bytes.length) continue;
    if (words === undefined || words.equals(place.bytes.subarray(start, end)))
      return charactersIn(place, start, end);
  }
  const all = places.at(-1)!;
  const at = words === undefined ? -1 : all.bytes.indexOf(words);
  return words === undefined || at === -1 ? {} : charactersIn(all, at, at + words.length);
}

function charactersIn(place: Place, from: number, to: number): Span {
  const counts = (place.counts ??= countsOf(place.bytes));
  return { start: place.before + counts[from]!, end: place.before + counts[to]! };
}

function countsOf(bytes: Buffer): Uint32Array {
  const counts = new Uint32Array(bytes.length + 1);
  // Bytes that go on with a character begin with the bits 10.
  for (const [at, byte] of bytes.entries())
    counts[at + 1] = counts[at]! + ((byte & 0xc0) === 0x80 ? 0 : 1);
  return counts;
}

/** A text with what is cited of it. */
export interface CitedText {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** How many bytes stand before it, in its part or in the stream. */
  readonly offset: number;
  /** The number of its part. Absent: it came in pieces. */
  readonly part?: number | undefined;
}

/** `groundingMetadata` as a member of a candidate; none where nothing is cited. Each page is a chunk, once. */
export function encodeGrounding(texts: readonly CitedText[]): JsonObject {
  const chunks = new Map<string, number>();
  const pages: JsonObject[] = [];
  const supports = texts.flatMap(({ text, citations, offset, part }) => {
    const at = citations.length > 0 ? indexOf(text) : undefined;
    if (!at) return [];
    return citations.map(({ url, title = url, start = 0, end }) => {
      const chunk = chunks.get(url) ?? pages.push({ web: { uri: url, title } }) - 1;
      chunks.set(url, chunk);
      const from = at(start);
      const to = at(end ?? Infinity);
      const words = text.slice(from.unit, to.unit);
      const startIndex = offset + from.byte;
      const segment: JsonObject = {
        ...member("partIndex", part === 0 ? undefined : part),
        startIndex,
        endIndex: offset + to.byte,
        text: words,
      };
      return { segment, groundingChunkIndices: [chunk] };
    });
  });
  if (pages.length === 0) return {};
  return { groundingMetadata: { groundingChunks: pages, groundingSupports: supports } };
}

/** Where each character of a text begins, in units of JavaScript and in bytes; the end stands for any beyond it. */
function indexOf(text: string): (character: number) => { unit: number; byte: number } {
  const units: number[] = [];
  const bytes: number[] = [];
  let [unit, byte] = [0, 0];
  for (const character of text) {
    units.push(unit);
    bytes.push(byte);
    unit += character.length;
    byte += bytesOf(character.codePointAt(0)!);
  }
  return (character) => ({ unit: units[character] ?? unit, byte: bytes[character] ?? byte });
}

function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
