/**
 * Citations of generateContent answers. Their offsets are UTF-8 bytes: in one part of a whole answer, in all text of a stream. CONV-704.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import { getOrCreate } from "../../base/memoize.ts";
import { reportedCount } from "../../base/usage.ts";
import type { Citation, JsonObject } from "../canonical/request.ts";
import { characters, citationOf, fileCitationOf } from "../citations.ts";
import { list, member, nonEmpty, objectOf, objects } from "../read.ts";

/** A text of an answer, and the index of its part. */
export interface NumberedText {
  readonly part: number;
  readonly text: string;
}

/** Citations repeat the page that they refer to in full. Limit for all repeated pages of an answer, in characters. */
const namedMax = 32 * 1024 * 1024;
/** Limit for the search of quoted words in an answer, in bytes. */
const searchedMax = 64 * 1024 * 1024;
/** Limit for the repeated text beside citations of an answer, in characters. */
const repeatedMax = 32 * 1024 * 1024;

/** Returns the citations in a candidate's `groundingMetadata` and `citationMetadata`; offsets count all texts as one. */
export function decodeGrounding(
  candidate: WireObject,
  texts: readonly NumberedText[],
): readonly Citation[] {
  const { groundingMetadata, citationMetadata } = candidate;
  if (groundingMetadata === undefined && citationMetadata === undefined) return [];
  const places = placesOf(texts);
  const { groundingChunks, groundingSupports } = objectOf(groundingMetadata);
  const chunks = objects(groundingChunks).map(pageOf);
  let named = 0;
  const supported = objects(groundingSupports).flatMap((support) => {
    if (named > namedMax) return [];
    const span = spanOf(objectOf(support["segment"]), places);
    const pages = list(support["groundingChunkIndices"]).flatMap((at) => chunks[Number(at)] ?? []);
    return pages.flatMap((page) => {
      const { title = "", quote = "" } = page;
      const place = page.file ? (page.file.id ?? "") : page.url;
      named += place.length + title.length + quote.length;
      return named > namedMax ? [] : [{ ...page, ...span }];
    });
  });
  const { citations, citationSources } = objectOf(citationMetadata);
  const repeated = objects(citations ?? citationSources).flatMap((wire) => {
    const span = spanOf(wire, places);
    return citationOf(wire["uri"], { title: wire["title"] }).map((page) => ({ ...page, ...span }));
  });
  // Pages without supports are cited for the whole answer.
  return [...(supported.length > 0 ? supported : chunks.flat()), ...repeated];
}

/** Returns the page of a chunk: from a search, a map, a picture, or the caller's file store. */
function pageOf({ web, maps, image, retrievedContext: stored }: WireObject): Citation[] {
  const { uri, sourceUri, title, text } = objectOf(web ?? maps ?? image ?? stored);
  const pages = citationOf(uri ?? sourceUri, { title, quote: text });
  if (pages.length > 0 || !isObject(stored)) return pages;
  return fileCitationOf(stored["documentName"] ?? uri, { title, quote: text });
}

/** A text that offsets may refer to, and the number of characters before it. */
interface Place {
  readonly bytes: Buffer;
  readonly before: number;
  /** Number of characters that begin before each byte; computed on first use. */
  counts?: Uint32Array;
}

interface Places {
  readonly byPart: ReadonlyMap<number, Place>;
  /** All texts joined. */
  readonly all: Place;
  /** Number of bytes searched so far. */
  searched: number;
}

function placesOf(texts: readonly NumberedText[]): Places {
  let before = 0;
  const byPart = new Map<number, Place>();
  for (const { part, text } of texts) {
    byPart.set(part, { bytes: Buffer.from(text, "utf8"), before });
    before += characters(text);
  }
  const bytes = Buffer.concat([...byPart.values()].map((place) => place.bytes));
  return { byPart, all: { bytes, before: 0 }, searched: 0 };
}

type Span = Pick<Citation, "start" | "end">;

/** Returns the span of a segment in characters. If the offsets do not match the quoted words, the words are searched instead. */
function spanOf(segment: WireObject, places: Places): Span {
  const { partIndex, startIndex, endIndex } = segment;
  const text = nonEmpty(segment["text"]);
  const part = reportedCount(partIndex) ?? 0;
  const start = reportedCount(startIndex) ?? 0;
  const end = reportedCount(endIndex);
  if (end === undefined || end <= start) return {};
  const words = text === undefined ? undefined : Buffer.from(text, "utf8");
  const { byPart, all } = places;
  for (const place of [byPart.get(part), all]) {
    if (!place || end > place.bytes.length) continue;
    if (words === undefined || words.equals(place.bytes.subarray(start, end)))
      return charactersIn(place, start, end);
  }
  const at = words === undefined ? -1 : searchFor(words, places);
  return words === undefined || at === -1 ? {} : charactersIn(all, at, at + words.length);
}

/** Returns the first position of the words in the texts; -1 if they are absent, or the search limit is reached. */
function searchFor(words: Buffer, places: Places): number {
  const { bytes } = places.all;
  if (places.searched >= searchedMax) return -1;
  const at = bytes.indexOf(words);
  places.searched += at === -1 ? bytes.length : at + words.length;
  return at;
}

function charactersIn(place: Place, from: number, to: number): Span {
  const counts = (place.counts ??= countsOf(place.bytes));
  return { start: place.before + counts[from]!, end: place.before + counts[to]! };
}

function countsOf(bytes: Buffer): Uint32Array {
  const counts = new Uint32Array(bytes.length + 1);
  // Continuation bytes of a character begin with the bits 10.
  for (const [at, byte] of bytes.entries())
    counts[at + 1] = counts[at]! + ((byte & 0xc0) === 0x80 ? 0 : 1);
  return counts;
}

/** A text with its citations. */
export interface CitedText {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** Number of bytes before it, in its part or in the stream. */
  readonly offset: number;
  /** The index of its part. Absent: the text was streamed. */
  readonly part?: number | undefined;
}

/**
 * Encodes `groundingMetadata` as a member of a candidate; empty without citations. Each page becomes one chunk, and pages with the same
 * span share a support. Quoted words beyond {@link repeatedMax} are left out: their offsets identify them.
 */
export function encodeGrounding(texts: readonly CitedText[]): JsonObject {
  const chunks = new Map<string, number>();
  const pages: JsonObject[] = [];
  let repeated = 0;
  const supports = texts.flatMap(({ text, citations, offset, part }) => {
    const at = citations.length > 0 ? indexOf(text) : undefined;
    if (!at) return [];
    const bySpan = new Map<string, { segment: JsonObject; chunks: Set<number> }>();
    for (const citation of citations) {
      const { start = 0, end } = citation;
      const chunk = getOrCreate(chunks, keyOf(citation), () => pages.push(chunkOf(citation)) - 1);
      const [from, to] = [at(start), at(end ?? Infinity)];
      const support = getOrCreate(bySpan, `${from.unit} ${to.unit}`, () => {
        repeated += to.unit - from.unit;
        const words = repeated > repeatedMax ? undefined : text.slice(from.unit, to.unit);
        const segment: JsonObject = {
          ...member("partIndex", part === 0 ? undefined : part),
          startIndex: offset + from.byte,
          endIndex: offset + to.byte,
          ...member("text", words),
        };
        return { segment, chunks: new Set<number>() };
      });
      support.chunks.add(chunk);
    }
    return [...bySpan.values()].map(({ segment, chunks: used }) => ({
      segment,
      groundingChunkIndices: [...used],
    }));
  });
  if (pages.length === 0) return {};
  return { groundingMetadata: { groundingChunks: pages, groundingSupports: supports } };
}

/** Citations of one file are equal if title and quote are equal. */
const keyOf = (citation: Citation): string =>
  citation.file ? JSON.stringify([citation.file.id, citation.title, citation.quote]) : citation.url;

function chunkOf(citation: Citation): JsonObject {
  if (!citation.file) {
    const { url, title = url } = citation;
    return { web: { uri: url, title } };
  }
  const { file, title = file.id, quote } = citation;
  const told = { ...member("title", title), ...member("text", quote) };
  return { retrievedContext: { ...told, ...member("documentName", file.id) } };
}

/** Maps a character of a text to its position in UTF-16 units and in bytes; characters beyond the text map to its end. */
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
