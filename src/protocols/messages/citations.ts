/** Citations of the messages protocol. Each text block has its own. */
import type { WireObject } from "../../base/json.ts";
import type { Citation, JsonObject } from "../canonical/request.ts";
import { citationOf, fileCitationOf } from "../citations.ts";
import { nonEmpty, objects } from "../read.ts";
import { unsignedFile, unsignedMark } from "./unsigned.ts";

/** Decodes the citations of a text: pages by address, documents and search results by name. */
export const decodeCitations = (citations: unknown): Citation[] =>
  objects(citations).flatMap(decodeCitation);

function decodeCitation(wire: WireObject): Citation[] {
  const { url, source, title, cited_text: quote, document_title: name } = wire;
  const pages = citationOf(url ?? source, { title, quote });
  if (pages.length > 0) return pages;
  const index = wire["document_index"] ?? wire["search_result_index"];
  // In a collected stream, and behind another gateway, the source has the gateway's mark.
  const id = wire["file_id"] ?? nonEmpty(source)?.replace(markedFile, "");
  return fileCitationOf(id, { title: name ?? title, quote, index });
}

const markedFile = new RegExp(`^${unsignedFile}`);

/**
 * Encodes a citation. It carries the gateway's mark instead of the vendor's proof, so that the gateway can remove it when the caller sends
 * it back. A file is encoded as a search result, which accepts any name.
 */
export function encodeCitation(citation: Citation): JsonObject {
  const { title = null, quote = "" } = citation;
  if (!citation.file) {
    const { url } = citation;
    return {
      type: "web_search_result_location",
      url,
      title,
      cited_text: quote,
      encrypted_index: unsignedMark,
    };
  }
  const { id = title ?? "", index = 0 } = citation.file;
  return {
    type: "search_result_location",
    source: `${unsignedFile}${id}`,
    title,
    cited_text: quote,
    search_result_index: index,
    start_block_index: 0,
    end_block_index: 0,
  };
}
