/** Converts text documents and search results to text for upstreams that do not support them: a model reads such a file like a prompt. */
import { isTextType } from "./count-text.ts";
import type { MediaPart, TextPart } from "./canonical/request.ts";

/** Returns a document as texts and pictures between tags; undefined if it is not text. */
export function documentParts(document: MediaPart): (TextPart | MediaPart)[] | undefined {
  const { filename, context, address, cache } = document;
  const parts = partsOf(document);
  if (!parts) return undefined;
  const name = address === undefined ? "document" : "search_result";
  const about = { source: address, title: filename, context };
  const attributes = Object.entries(about).map(([key, value]) => attribute(key, value));
  const begin = `<${name}${attributes.join("")}>`;
  const end = `</${name}>`;
  const marked = cache ? { cache } : {};
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length === parts.length)
    return [{ type: "text", text: [begin, ...texts, end].join("\n"), ...marked }];
  return [{ type: "text", text: begin }, ...parts, { type: "text", text: end, ...marked }];
}

function partsOf({ media, source }: MediaPart): readonly (TextPart | MediaPart)[] | undefined {
  if (media !== "file") return undefined;
  if (source.kind === "parts") return source.parts;
  if (source.kind !== "base64" || !isPlain(source.mediaType)) return undefined;
  const text = decoded(source.data);
  return text === undefined ? undefined : [{ type: "text", text }];
}

/** RTF counts as text by type, but contains markup. */
const isPlain = (mediaType: string): boolean =>
  isTextType(mediaType) && !/\brtf\b/i.test(mediaType);

const attribute = (name: string, value: string | undefined): string =>
  value === undefined ? "" : ` ${name}="${value.replaceAll('"', "&quot;")}"`;

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Undefined if the data is not UTF-8. */
function decoded(base64: string): string | undefined {
  try {
    return decoder.decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}
