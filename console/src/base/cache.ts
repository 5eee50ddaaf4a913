/** Converts a key's response cache between form and API: how long an answer is reused, and the price of a repeat. docs/cache.md. */

export interface ResponseCache {
  readonly ttl_seconds: number;
  readonly charge_percent: number;
}

/** Values of number fields: text while the reader types. An empty time means no cache. */
export interface CacheFields {
  readonly seconds: number | string;
  readonly percent: number | string;
}

export const cacheFieldsOf = (cache: ResponseCache | null): CacheFields => ({
  seconds: cache?.ttl_seconds ?? "",
  percent: cache?.charge_percent ?? "",
});

export const cacheOf = ({ seconds, percent }: CacheFields): ResponseCache | null =>
  seconds === "" ? null : { ttl_seconds: Number(seconds), charge_percent: Number(percent) };

const units = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** "1 d 6 h": a time span in its largest units. */
export function readSpan(seconds: number): string {
  let left = seconds;
  const parts = units.flatMap(([size, unit]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.join(" ");
}

/** Describes the cache setting. */
export function readCache(cache: ResponseCache | null): string {
  if (cache === null) return "no response cache";
  const { ttl_seconds: seconds, charge_percent: percent } = cache;
  const price = percent === 0 ? "free" : `at ${percent} %`;
  return `response cache: ${readSpan(seconds)}, repeats ${price}`;
}
