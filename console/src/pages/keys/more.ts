/** Optional settings of a new key besides name, caps and models: limits and a response cache. Pure. */
import { cacheFieldsOf, cacheOf, type CacheFields as Cache } from "../../base/cache.ts";
import { limitFieldsOf, limitsOf, type LimitFields } from "../../base/limits.ts";

export interface MoreFields {
  readonly limits: LimitFields;
  readonly cache: Cache;
}

export const noMore: MoreFields = { limits: limitFieldsOf(null), cache: cacheFieldsOf(null) };

/** The API fields; only those that are set. */
export function moreOf({ limits, cache }: MoreFields) {
  const rateLimits = limitsOf(limits);
  const kept = cacheOf(cache);
  return {
    ...(Object.values(rateLimits).some((one) => one !== null) && { rate_limits: rateLimits }),
    ...(kept !== null && { response_cache: kept }),
  };
}

export const moreNames = ["rate_limits", "response_cache"];
