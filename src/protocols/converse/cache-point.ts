/** Cache points: a separate block after the content to cache. */
import type { CacheBreakpoint, JsonObject } from "../canonical/request.ts";

/** Returns the cache point after a marked item; empty if it has no marker. */
export const cachePoint = (cache: CacheBreakpoint | undefined): JsonObject[] =>
  cache === undefined
    ? []
    : [{ cachePoint: { type: "default", ...(cache.ttl === "1h" ? { ttl: cache.ttl } : {}) } }];
