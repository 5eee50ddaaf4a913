/** Limits of a workspace, a member or a key: requests and tokens per minute, and concurrent calls. docs/limits.md. */
import { invalidValue } from "../base/errors.ts";
import { camelCased, snakeCased, snakeName, type SnakeCased } from "../base/casing.ts";

/** null: no limit of that kind. */
export interface RateLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

/** Absent: unchanged. null: no limit. A null patch removes all limits. */
export type RateLimitsPatch = {
  readonly [Name in keyof RateLimits]?: RateLimits[Name] | undefined;
};

export type RateLimitsJson = SnakeCased<RateLimits>;

export const noRateLimits: RateLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrency: null,
};

/** The wire name of a limit, for errors. */
export const rateLimitField = (name: keyof RateLimits): string => `rate_limits.${snakeName(name)}`;

/** The limits after a patch; null if none remains. @throws GatewayError `invalid_value` */
export function mergeRateLimits(
  current: RateLimits | null,
  patch: RateLimitsPatch | null | undefined,
): RateLimits | null {
  if (patch === undefined) return current;
  if (patch === null) return null;
  const pick = (name: keyof RateLimits): number | null => {
    const next = patch[name] === undefined ? (current?.[name] ?? null) : patch[name];
    if (next === null || (Number.isSafeInteger(next) && next >= 1)) return next;
    throw invalidValue(rateLimitField(name), "must be a whole number from 1 up, or null");
  };
  const merged = {
    requestsPerMinute: pick("requestsPerMinute"),
    tokensPerMinute: pick("tokensPerMinute"),
    concurrency: pick("concurrency"),
  };
  return Object.values(merged).every((limit) => limit === null) ? null : merged;
}

export const renderRateLimits = (limits: RateLimits | null): RateLimitsJson | null =>
  limits && snakeCased(limits);

export const rateLimitsOfRow = (json: Partial<RateLimitsJson> | null): RateLimits | null =>
  json && { ...noRateLimits, ...camelCased(json) };

/** The stored form. */
export const rateLimitsParam = (limits: RateLimits | null): string | null =>
  limits === null ? null : JSON.stringify(renderRateLimits(limits));

export const sameRateLimits = (one: RateLimits | null, other: RateLimits | null): boolean =>
  rateLimitsParam(one) === rateLimitsParam(other);
