/** Cache points: a block of their own, behind what is to be kept. */
import type { CacheBreakpoint, JsonObject } from "../canonical/request.ts";

/** The block behind an item that is marked; none behind another. */
export const cachePoint = (cache: CacheBreakpoint | undefined): JsonObject[] =>
  cache === undefined
    ? []
    : [{ cachePoint: { type: "default", ...(cache.ttl === "1h" ? { ttl: cache.ttl } : {}) } }];
