/** Citations of the messages protocol, of pages. They stand on the text that they are of. */
import type { Citation, JsonObject } from "../canonical/request.ts";
import { citationOf } from "../citations.ts";
import { objects } from "../read.ts";
import { unsignedMark } from "./unsigned.ts";

/** Those of a text that are of a page. The caller's own documents have no address. */
export const decodeCitations = (citations: unknown): Citation[] =>
  objects(citations).flatMap(({ url, source, title, cited_text: quote }) =>
    citationOf(url ?? source, { title, quote }),
  );

/** A citation of a text. In place of the vendor's proof it carries the gateway's mark, by which it is left out when it comes back. */
export const encodeCitation = ({ url, title, quote }: Citation): JsonObject => ({
  type: "web_search_result_location",
  url,
  title: title ?? null,
  cited_text: quote ?? "",
  encrypted_index: unsignedMark,
});
