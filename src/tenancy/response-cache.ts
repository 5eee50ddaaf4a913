/** The response cache of a key: how long an answer may be reused, and the price of a reuse. docs/cache.md. */
import { invalidValue } from "../base/errors.ts";
import { camelCased, snakeCased, type SnakeCased } from "../base/casing.ts";

export interface ResponseCache {
  /** The maximum age of an answer. */
  readonly ttlSeconds: number;
  /** The share of the first answer's charge that each repeat is charged, in percent; 0: free. */
  readonly chargePercent: number;
}

export type ResponseCacheJson = SnakeCased<ResponseCache>;

/** Absent: unchanged. null: no cache. */
export type ResponseCachePatch = { readonly [Name in keyof ResponseCache]?: number | undefined };

export const cacheSecondsMax = 30 * 24 * 60 * 60;
const percentMax = 100;

/** The cache after a patch. @throws GatewayError `invalid_value` */
export function mergeResponseCache(
  current: ResponseCache | null,
  patch: ResponseCachePatch | null | undefined,
): ResponseCache | null {
  if (patch === undefined) return current;
  if (patch === null) return null;
  const { ttlSeconds = current?.ttlSeconds, chargePercent = current?.chargePercent ?? 0 } = patch;
  if (!isWhole(ttlSeconds, 1, cacheSecondsMax))
    throw invalidValue("response_cache.ttl_seconds", `must be from 1 to ${cacheSecondsMax}`);
  if (!isWhole(chargePercent, 0, percentMax))
    throw invalidValue("response_cache.charge_percent", `must be from 0 to ${percentMax}`);
  return { ttlSeconds, chargePercent };
}

const isWhole = (value: number | undefined, least: number, most: number): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= least && value <= most;

export const renderResponseCache = (cache: ResponseCache | null): ResponseCacheJson | null =>
  cache && snakeCased(cache);

export const responseCacheOfRow = (json: ResponseCacheJson | null): ResponseCache | null =>
  json && camelCased(json);

/** The stored form. */
export const responseCacheParam = (cache: ResponseCache | null): string | null =>
  cache && JSON.stringify(renderResponseCache(cache));
