/** Searches that an answer of Gemini is grounded on: in the web, or in Google Maps. Google bills each apart. */
import type { ToolUses } from "../../base/usage.ts";
import { isSet, list, nonEmpty, objectOf, objects } from "../read.ts";

/** Reads the grounding of one answer, from its frames or the whole. */
export class GroundingUses {
  /** Google bills each distinct query once. */
  readonly #queries = new Set<string>();
  #hasWeb = false;
  #hasMaps = false;

  /**
   * Both tools report their queries in one list. An answer whose sources are only places searched the maps, with at least one query: Vertex
   * AI reports none. With sources of both kinds the queries count as web searches, and the maps as searched once.
   */
  get counts(): ToolUses {
    const { size } = this.#queries;
    if (!this.#hasMaps) return { webSearches: size };
    return this.#hasWeb
      ? { webSearches: size, mapSearches: 1 }
      : { mapSearches: Math.max(size, 1) };
  }

  take(candidates: unknown): void {
    for (const candidate of objects(candidates)) {
      const grounding = objectOf(candidate["groundingMetadata"]);
      for (const query of list(grounding["webSearchQueries"])) {
        if (nonEmpty(query)?.trim()) this.#queries.add(query as string);
      }
      const sources = objects(grounding["groundingChunks"]);
      this.#hasWeb ||= sources.some(({ web }) => isSet(web));
      this.#hasMaps ||=
        sources.some(({ maps }) => isSet(maps)) ||
        nonEmpty(grounding["googleMapsWidgetContextToken"]) !== undefined;
    }
  }
}

/** Returns the uses of a whole answer. */
export function groundingUses(candidates: unknown): ToolUses {
  const grounding = new GroundingUses();
  grounding.take(candidates);
  return grounding.counts;
}
