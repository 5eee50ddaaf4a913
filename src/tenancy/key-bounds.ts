/**
 * Settings made by administrators, as bounds for the owner of a key: the owner may set anything within them. A bound is the last
 * value that an administrator set for a field; clearing the field clears the bound. Spend caps need no bounds: the owner may never
 * loosen them, even if the owner set them (CAP-14).
 */
import { noRateLimits, rateLimitField, renderRateLimits, rateLimitsOfRow } from "./rate-limits.ts";
import type { RateLimits, RateLimitsJson, RateLimitsPatch } from "./rate-limits.ts";

/** The settings of a key that can have bounds, with their current values. */
export interface BoundSettings {
  readonly modelAllowlist: readonly string[];
  readonly rateLimits: RateLimits | null;
  readonly expiresAt: Date | null;
}

/** A change of these settings. Absent: unchanged (at creation: none). null: no limit, none. */
export interface BoundSettingsPatch {
  readonly modelAllowlist?: readonly string[] | null | undefined;
  readonly rateLimits?: RateLimitsPatch | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/** null: no bound of that kind. */
export interface KeyBounds {
  /** True if an administrator disabled the key: only an administrator may enable it. */
  readonly disabled: boolean;
  readonly modelAllowlist: readonly string[] | null;
  readonly rateLimits: RateLimits;
  readonly expiresAt: Date | null;
}

/** The stored form. Absent fields mean null, or not disabled by an administrator. */
export interface KeyBoundsJson {
  readonly disabled?: boolean;
  readonly model_allowlist?: readonly string[] | null;
  readonly rate_limits?: Partial<RateLimitsJson> | null;
  readonly expires_at?: string | null;
}

export const noBounds: KeyBounds = {
  disabled: false,
  modelAllowlist: null,
  rateLimits: noRateLimits,
  expiresAt: null,
};

export function boundsOfRow(json: KeyBoundsJson): KeyBounds {
  return {
    disabled: json.disabled === true,
    modelAllowlist: json.model_allowlist ?? null,
    rateLimits: rateLimitsOfRow(json.rate_limits ?? null) ?? noRateLimits,
    expiresAt: json.expires_at ? new Date(json.expires_at) : null,
  };
}

export function renderBounds(bounds: KeyBounds): KeyBoundsJson {
  return {
    disabled: bounds.disabled,
    model_allowlist: bounds.modelAllowlist,
    rate_limits: renderRateLimits(bounds.rateLimits),
    expires_at: bounds.expiresAt?.toISOString() ?? null,
  };
}

/** Returns the bounds after an administrator's `patch`: for each field in it, the value in force, from `now`. */
export function mergeBounds(
  current: KeyBounds,
  patch: BoundSettingsPatch,
  now: BoundSettings,
): KeyBounds {
  const { modelAllowlist, rateLimits, expiresAt } = patch;
  const bound = (name: keyof RateLimits): number | null =>
    rateLimits === null || rateLimits?.[name] !== undefined
      ? (now.rateLimits?.[name] ?? null)
      : current.rateLimits[name];
  const list = now.modelAllowlist.length > 0 ? now.modelAllowlist : null;
  return {
    disabled: current.disabled,
    modelAllowlist: modelAllowlist === undefined ? current.modelAllowlist : list,
    rateLimits: {
      requestsPerMinute: bound("requestsPerMinute"),
      tokensPerMinute: bound("tokensPerMinute"),
      concurrency: bound("concurrency"),
    },
    expiresAt: expiresAt === undefined ? current.expiresAt : now.expiresAt,
  };
}

const exceeds = <Value extends number | Date>(value: Value | null, bound: Value | null): boolean =>
  bound !== null && (value === null || value > bound);

/** The wire name of the first setting that exceeds its bound; undefined if none does. */
export function settingBeyondBounds(bounds: KeyBounds, now: BoundSettings): string | undefined {
  const { modelAllowlist: list } = now;
  const allowed = bounds.modelAllowlist && new Set(bounds.modelAllowlist);
  if (allowed !== null && (list.length === 0 || !list.every((id) => allowed.has(id)))) {
    return "model_allowlist";
  }
  const names = Object.keys(noRateLimits) as (keyof RateLimits)[];
  const beyond = names.find((name) =>
    exceeds(now.rateLimits?.[name] ?? null, bounds.rateLimits[name]),
  );
  if (beyond !== undefined) return rateLimitField(beyond);
  return exceeds(now.expiresAt, bounds.expiresAt) ? "expires_at" : undefined;
}
