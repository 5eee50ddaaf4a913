/** Where a `prompt_cache_key` becomes cache markers (protocols/session-markers.ts). docs/decisions.md "Prompt caches". */
import type { TextOffer } from "../catalog/index.ts";
import { isClaude } from "../protocols/index.ts";

/**
 * True for Claude, which caches only marked prompts, in the two protocols with markers. A price without cache rates may mean that the model
 * has no cache: Bedrock refuses markers for such a model. Without them, the caller would also pay the input rate for cache reads.
 */
export const marksSessions = ({ protocol, upstreamModel, price }: TextOffer): boolean =>
  (protocol === "messages" || protocol === "converse") &&
  isClaude(upstreamModel) &&
  price.cacheRead !== undefined &&
  price.cacheWrite !== undefined;
