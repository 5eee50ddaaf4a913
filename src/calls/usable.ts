/** The candidates of a text call that can take its request. */
import { GatewayError } from "../base/errors.ts";

interface Routed {
  route(): unknown;
}

/**
 * Returns the candidates from the first that can take the request; a request that only some upstreams cannot take is no error. If
 * none can, tries those left out for their health: they are the only ones left for this request.
 */
export function usable<One extends Routed>(
  candidates: readonly One[],
  leftOut: () => readonly One[],
): readonly One[] {
  const refusals: GatewayError[] = [];
  const ready = firstUsable(candidates, refusals);
  if (ready.length > 0) return ready;
  const last = refusals.length === 0 ? [] : firstUsable(leftOut(), refusals);
  if (last.length > 0) return last;
  throw (
    refusals[0] ??
    new GatewayError("no_provider_available", "No provider of this model is available now.")
  );
}

/** Returns the candidates from the first that can take the request. Adds the errors of earlier ones to `refusals`. */
function firstUsable<One extends Routed>(
  candidates: readonly One[],
  refusals: GatewayError[],
): readonly One[] {
  for (let index = 0; index < candidates.length; index += 1) {
    try {
      candidates[index]!.route();
      return index === 0 ? candidates : candidates.slice(index);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refusals.push(error);
    }
  }
  return [];
}
