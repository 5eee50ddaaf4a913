/**
 * Citations in answers: those of chat and responses, and helpers for all protocols. Chat and responses count characters, generateContent
 * counts UTF-8 bytes. In messages a citation covers the whole text that it belongs to. CONV-701 to CONV-704.
 */
import { isObject, type WireObject } from "../base/json.ts";
import { reportedCount } from "../base/usage.ts";
import type {
  Citation,
  FileCitation,
  JsonObject,
  PageCitation,
  Part,
} from "./canonical/request.ts";
import { list, member, nonEmpty, objects } from "./read.ts";

/** Returns the number of characters (code points) of a text. If a surrogate pair is split over two pieces, its second half counts 0. */
export function characters(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return count;
}

/** The title of a page and the quoted text. */
interface Page {
  readonly title: unknown;
  readonly quote?: unknown;
}

/** A citation for a whole text; empty without an http address. */
export const citationOf = (url: unknown, { title, quote }: Page): PageCitation[] =>
  typeof url === "string" && /^https?:\/\//i.test(url)
    ? [{ url, ...member("title", nonEmpty(title)), ...member("quote", nonEmpty(quote)) }]
    : [];

/** A citation of a whole file, by its id, its name, or at least its number. */
export function fileCitationOf(id: unknown, { title, quote, index }: File): FileCitation[] {
  const [known, name] = [nonEmpty(id), nonEmpty(title)];
  const number = reportedCount(index);
  if (known === undefined && name === undefined && number === undefined) return [];
  return [
    {
      file: { ...member("id", known), ...member("index", number) },
      ...member("title", name),
      ...member("quote", nonEmpty(quote)),
    },
  ];
}

interface File extends Page {
  readonly index?: unknown;
}

/** Decodes the annotations of chat and responses. */
export const decodeAnnotations = (annotations: unknown): Citation[] =>
  objects(annotations).flatMap((wire): Citation[] => {
    switch (wire["type"]) {
      case "url_citation":
        return pageIn(wire);
      case "file_citation":
      case "file_path":
        return fileCitationOf(wire["file_id"], { title: wire["filename"], index: wire["index"] });
      case "container_file_citation":
        return containerFileIn(wire);
      default:
        return [];
    }
  });

function pageIn(wire: WireObject): PageCitation[] {
  const { url_citation: inner } = wire;
  // chat nests the members in `url_citation`; some of its vendors do not.
  const said: WireObject = isObject(inner) ? inner : wire;
  const { url, title, content } = said;
  const span = spanOf(said);
  return citationOf(url, { title, quote: content }).map((page) => ({ ...page, ...span }));
}

function containerFileIn(wire: WireObject): FileCitation[] {
  const container = nonEmpty(wire["container_id"]);
  const span = spanOf(wire);
  return fileCitationOf(wire["file_id"], { title: wire["filename"] }).map(({ file, ...cited }) => ({
    ...cited,
    file: { ...file, container },
    ...span,
  }));
}

function spanOf({ start_index, end_index }: WireObject) {
  const start = reportedCount(start_index);
  const end = reportedCount(end_index);
  return start !== undefined && end !== undefined && start < end ? { start, end } : undefined;
}

/** Decodes the pages that some chat vendors list for the whole answer: Perplexity with titles, xAI by address only. */
export function decodePages({ search_results: results, citations }: WireObject): Citation[] {
  const pages = objects(results).flatMap(({ url, title, snippet }) =>
    citationOf(url, { title, quote: snippet }),
  );
  return pages.length > 0
    ? pages
    : list(citations).flatMap((url) => citationOf(url, { title: undefined }));
}

/** Encodes the members of a `url_citation`. Its text begins at `offset` and has `length` characters. */
export function encodeUrlCitation(
  { url, title = url, start = 0, end }: PageCitation,
  offset: number,
  length: number,
): JsonObject {
  return {
    url,
    title,
    start_index: offset + start,
    end_index: offset + (end ?? length),
  };
}

/** Encodes an annotation of a file for responses. Its text has `length` characters. */
export function encodeFileCitation(
  { file: { id = "", container, index = 0 }, title = id, start = 0, end }: FileCitation,
  length: number,
): JsonObject {
  if (container === undefined)
    return { type: "file_citation", file_id: id, filename: title, index };
  return {
    type: "container_file_citation",
    container_id: container,
    file_id: id,
    filename: title,
    start_index: start,
    end_index: end ?? length,
  };
}

/** A text of an answer: its offset in all texts of the answer, and its length, in characters. */
export interface Placed {
  readonly offset: number;
  readonly length: number;
}

/** Finds the text that a citation of all texts belongs to, the last one that begins at or before it, and the citation in that text. */
export function placeCitation(
  citation: Citation,
  texts: readonly Placed[],
): { readonly index: number; readonly citation: Citation } | undefined {
  const { start, end, ...page } = citation;
  if (start === undefined || end === undefined)
    return texts.length === 0 ? undefined : { index: texts.length - 1, citation };
  const index = lastAt(start, texts);
  const text = texts[index];
  if (!text) return undefined;
  const from = start - text.offset;
  const to = Math.min(end - text.offset, text.length);
  return { index, citation: from < to ? { ...page, start: from, end: to } : page };
}

/** Index of the last text that begins at or before a character; -1 if none does. Binary search: texts are in order, and may be many. */
function lastAt(start: number, texts: readonly Placed[]): number {
  let [low, high] = [0, texts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (texts[middle]!.offset <= start) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Adds citations, which count all texts as one, to the text parts of an answer. */
export function withCitations(parts: readonly Part[], citations: readonly Citation[]): Part[] {
  if (citations.length === 0) return [...parts];
  const texts = parts.filter((part) => part.type === "text");
  let length = 0;
  const placed = texts.map(({ text }) => {
    const offset = length;
    length += characters(text);
    return { offset, length: length - offset };
  });
  const cited = new Map<Part, Citation[]>();
  for (const one of citations) {
    const { index = -1, citation = one } = placeCitation(one, placed) ?? {};
    const text = texts[index];
    if (!text) continue;
    const known = cited.get(text);
    if (known) known.push(citation);
    else cited.set(text, [citation]);
  }
  return parts.map((part) => {
    const own = cited.get(part);
    return own && part.type === "text" ? { ...part, citations: own } : part;
  });
}
