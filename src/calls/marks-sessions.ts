/** Where Claude's prompt cache is used by markers of the gateway (protocols/session-markers.ts). docs/decisions.md "Prompt caches". */
import { modelAt, type Catalog, type TextModel, type TextOffer } from "../catalog/index.ts";
import { isClaude, upstreamCodecs, type ProtocolName } from "../protocols/index.ts";

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

/**
 * Returns whether a call in this protocol gets markers at an offer of a model: with a session key, and without one. If the model's record
 * has no session key, neither. Claude's own callers can set markers: if they set none, they want none.
 */
export function markingAt(
  offer: TextOffer,
  model: TextModel,
  protocol: ProtocolName,
  { promptCaching }: Pick<Catalog, "promptCaching">,
): { readonly marksSessions: boolean; readonly marksConversations: boolean } {
  const marks =
    marksSessions(offer) && modelAt(model, offer).parameters["prompt_cache_key"] !== false;
  const isAuto = promptCaching === "auto" && protocol !== "messages";
  return { marksSessions: marks, marksConversations: marks && isAuto };
}

function takesMarkers({ protocol, upstreamModel }: TextOffer): boolean {
  const codec = upstreamCodecs[protocol];
  return (codec.forModel?.(upstreamModel) ?? codec).limits.cacheMarkersMax > 0;
}
