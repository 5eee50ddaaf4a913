/**
 * What administrators set of a key, as bounds for its owner: the owner may set what he likes within them, and go beyond
 * none. A bound is what an administrator said last of that field; clearing the field clears it. Spend caps need none: their
 * owner may never loosen them, whoever set them (CAP-14).
 */
import { noRateLimits, rateLimitField, renderRateLimits, rateLimitsOfRow } from "./rate-limits.ts";
import type { RateLimits, RateLimitsJson, RateLimitsPatch } from "./rate-limits.ts";

/** The settings of a key that can have bounds, as they are in force. */
export interface BoundSettings {
  readonly modelAllowlist: readonly string[];
  readonly rateLimits: RateLimits | null;
  readonly expiresAt: Date | null;
}

/** A change of them. Absent: unchanged (at creation: none). null: no limit, none. */
export interface BoundSettingsPatch {
  readonly modelAllowlist?: readonly string[] | null | undefined;
  readonly rateLimits?: RateLimitsPatch | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/** null: no bound of that kind. */
export interface KeyBounds {
  /** An administrator disabled the key: it takes one to enable it. */
  readonly disabled: boolean;
  readonly modelAllowlist: readonly string[] | null;
  readonly rateLimits: RateLimits;
  readonly expiresAt: Date | null;
}

/** As stored; absent: null, or not disabled so. */
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

/** The bounds after an administrator made `patch`: of the fields it names, what is in force `now`. */
export function bind(current: KeyBounds, patch: BoundSettingsPatch, now: BoundSettings): KeyBounds {
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

const above = <Value extends number | Date>(value: Value | null, bound: Value | null): boolean =>
  bound !== null && (value === null || value > bound);

/** The field, by its name on the wire, in which a key's settings go beyond the bounds; undefined where none does. */
export function beyondBounds(bounds: KeyBounds, now: BoundSettings): string | undefined {
  const { modelAllowlist: list } = now;
  const allowed = bounds.modelAllowlist;
  if (allowed !== null && (list.length === 0 || !list.every((id) => allowed.includes(id)))) {
    return "model_allowlist";
  }
  const names = Object.keys(noRateLimits) as (keyof RateLimits)[];
  const beyond = names.find((name) =>
    above(now.rateLimits?.[name] ?? null, bounds.rateLimits[name]),
  );
  if (beyond !== undefined) return rateLimitField(beyond);
  return above(now.expiresAt, bounds.expiresAt) ? "expires_at" : undefined;
}
