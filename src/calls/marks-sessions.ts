/** Where a `prompt_cache_key` becomes cache markers (protocols/session-markers.ts). docs/decisions.md "Prompt caches". */
import type { TextOffer } from "../catalog/index.ts";
import { isClaude, upstreamCodecs } from "../protocols/index.ts";

/**
 * True for Claude, which caches only marked prompts, where a conversion keeps a caller's own markers too. A price without cache rates may
 * mean that the model has no cache: Bedrock refuses markers for such a model. Without them, the caller would also pay the input rate for
 * cache reads.
 */
export const marksSessions = (offer: TextOffer): boolean =>
  isClaude(offer.upstreamModel) &&
  takesMarkers(offer) &&
  offer.price.cacheRead !== undefined &&
  offer.price.cacheWrite !== undefined;

function takesMarkers({ protocol, upstreamModel }: TextOffer): boolean {
  const codec = upstreamCodecs[protocol];
  return (codec.forModel?.(upstreamModel) ?? codec).limits.cacheMarkersMax > 0;
}
