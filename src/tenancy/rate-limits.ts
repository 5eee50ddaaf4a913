/** Limits of a workspace, a member or a key: how many requests and tokens a minute, and how many calls at once. docs/limits.md. */
import { invalidValue } from "./checks.ts";

/** null: no limit of that kind. */
export interface RateLimits {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
}

/** Absent: unchanged. null: no limit; null in place of the whole: no limits. */
export type RateLimitsPatch = {
  readonly [Name in keyof RateLimits]?: RateLimits[Name] | undefined;
};

export interface RateLimitsJson {
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrency: number | null;
}

/** Each limit by its name on the wire. */
export const rateLimitNames = {
  requestsPerMinute: "requests_per_minute",
  tokensPerMinute: "tokens_per_minute",
  concurrency: "concurrency",
} as const satisfies Record<keyof RateLimits, keyof RateLimitsJson>;

/** The limits after a patch; null when none is left. @throws GatewayError `invalid_value` */
export function mergeRateLimits(
  current: RateLimits | null,
  patch: RateLimitsPatch | null | undefined,
): RateLimits | null {
  if (patch === undefined) return current;
  if (patch === null) return null;
  const pick = (name: keyof RateLimits): number | null => {
    const next = patch[name] === undefined ? (current?.[name] ?? null) : patch[name];
    if (next === null || (Number.isSafeInteger(next) && next >= 1)) return next;
    const field = `rate_limits.${rateLimitNames[name]}`;
    throw invalidValue(field, "must be a whole number from 1 up, or null");
  };
  const merged = {
    requestsPerMinute: pick("requestsPerMinute"),
    tokensPerMinute: pick("tokensPerMinute"),
    concurrency: pick("concurrency"),
  };
  return Object.values(merged).every((limit) => limit === null) ? null : merged;
}

export function renderRateLimits(limits: RateLimits | null): RateLimitsJson | null {
  if (limits === null) return null;
  return {
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrency: limits.concurrency,
  };
}

export function rateLimitsOfRow(json: Partial<RateLimitsJson> | null): RateLimits | null {
  if (json === null) return null;
  return {
    requestsPerMinute: json.requests_per_minute ?? null,
    tokensPerMinute: json.tokens_per_minute ?? null,
    concurrency: json.concurrency ?? null,
  };
}

/** As it is stored. */
export const rateLimitsParam = (limits: RateLimits | null): string | null =>
  limits === null ? null : JSON.stringify(renderRateLimits(limits));

export const sameRateLimits = (one: RateLimits | null, other: RateLimits | null): boolean =>
  rateLimitsParam(one) === rateLimitsParam(other);
