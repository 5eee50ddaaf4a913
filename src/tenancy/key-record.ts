/**
 * The record of an API key: its row, the value that the rest of the program sees (never the key itself), and its wire shape.
 * Requirements: KEY-16.
 */
import type { NanoUsd } from "../base/money.ts";
import { formatUsd } from "../base/money.ts";
import type { BoundSettings, KeyBounds, KeyBoundsJson } from "./key-bounds.ts";
import { boundsOfRow } from "./key-bounds.ts";
import { rateLimitsOfRow, renderRateLimits, type RateLimitsJson } from "./rate-limits.ts";
import type { ResponseCache, ResponseCacheJson } from "./response-cache.ts";
import { renderResponseCache, responseCacheOfRow } from "./response-cache.ts";
import type { RoutingJson, RoutingSettings } from "./routing-settings.ts";
import { renderRouting, routingOfRow } from "./routing-settings.ts";
import type { SpendCaps, SpendCapsRow } from "./spend-caps.ts";
import { renderSpendCaps, spendCapColumns, spendCapsOfRow } from "./spend-caps.ts";

/**
 * active: calls work. disabled: every request with the key fails until it is enabled again. revoked: the same, permanently.
 * key-states.ts has the transitions; expiry is a date, not a state.
 */
export type KeyStatus = "active" | "disabled" | "revoked";

export interface KeyRecord extends BoundSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly status: KeyStatus;
  readonly prefix: string;
  readonly last4: string;
  /** False for legacy keys that keep only a prefix (KEY-05). */
  readonly revealable: boolean;
  /** The owner: the user who created the key, or for whom an admin did; null for legacy keys without a recorded owner. */
  readonly createdBy: string | null;
  readonly spendCaps: SpendCaps;
  readonly routing: RoutingSettings;
  readonly allowRequestOverride: boolean;
  /** null: no response is served from the cache. */
  readonly responseCache: ResponseCache | null;
  /** The bounds that its owner may not exceed. */
  readonly bounds: KeyBounds;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** May lag by about a minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The columns of a key that calls need too. */
export interface KeySettingsRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly status: KeyStatus;
  readonly created_by: string | null;
  readonly model_allowlist: readonly string[];
  readonly routing: Partial<RoutingJson> | null;
  readonly allow_request_override: boolean;
  readonly rate_limits: Partial<RateLimitsJson> | null;
  readonly response_cache: ResponseCacheJson | null;
  readonly expires_at: Date | null;
}

export interface KeyRow extends KeySettingsRow, SpendCapsRow {
  readonly bounds: KeyBoundsJson;
  readonly key_prefix: string;
  readonly key_last4: string;
  readonly revealable: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

/** The columns of a `KeyRow`. Neither `lookup` nor `ciphertext` ever leaves the database with a record. */
export const keyColumns = `id, workspace_id, name, status, key_prefix, key_last4,
  ciphertext is not null as revealable, created_by, ${spendCapColumns}, model_allowlist, routing,
  allow_request_override, rate_limits, response_cache, expires_at, bounds, created_at, updated_at, last_used_at, revoked_at`;

export function keyOfRow(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    status: row.status,
    prefix: row.key_prefix,
    last4: row.key_last4,
    revealable: row.revealable,
    createdBy: row.created_by,
    spendCaps: spendCapsOfRow(row),
    modelAllowlist: row.model_allowlist,
    routing: routingOfRow(row.routing),
    allowRequestOverride: row.allow_request_override,
    rateLimits: rateLimitsOfRow(row.rate_limits),
    responseCache: responseCacheOfRow(row.response_cache),
    expiresAt: row.expires_at,
    bounds: boundsOfRow(row.bounds),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

/** The spend of a key by window, and when each window resets; from the ledger. */
export interface KeySpend {
  readonly total: NanoUsd;
  readonly daily: NanoUsd;
  readonly weekly: NanoUsd;
  readonly monthly: NanoUsd;
  readonly resetsAt: {
    readonly daily: Date | null;
    readonly weekly: Date | null;
    readonly monthly: Date | null;
  };
}

const iso = (date: Date | null) => date?.toISOString() ?? null;

/** The settings of a key on the wire, without the values that change as it is used. */
export function renderKeySettings(record: KeyRecord): Record<string, unknown> {
  return {
    name: record.name,
    status: record.status,
    key_prefix: record.prefix,
    key_last4: record.last4,
    workspace_id: record.workspaceId,
    created_by: record.createdBy,
    expires_at: iso(record.expiresAt),
    spend_caps: renderSpendCaps(record.spendCaps),
    model_allowlist: record.modelAllowlist,
    routing: renderRouting(record.routing),
    allow_request_override: record.allowRequestOverride,
    rate_limits: renderRateLimits(record.rateLimits),
    response_cache: renderResponseCache(record.responseCache),
  };
}

/** The record on the wire: snake_case, decimal strings, ISO times. The answers to a creation and a reveal add `key`. */
export function renderKey(record: KeyRecord, spend: KeySpend): Record<string, unknown> {
  const caps = record.spendCaps;
  return {
    id: record.id,
    object: "api_key",
    ...renderKeySettings(record),
    revealable: record.revealable,
    created_at: iso(record.createdAt),
    updated_at: iso(record.updatedAt),
    last_used_at: iso(record.lastUsedAt),
    revoked_at: iso(record.revokedAt),
    ...renderSpend(caps, spend),
  };
}

/** Renders the spend, the remainder of each cap, and when each window resets. */
export function renderSpend(caps: SpendCaps, spend: KeySpend): Record<string, unknown> {
  return {
    spend: {
      total: formatUsd(spend.total),
      daily: formatUsd(spend.daily),
      weekly: formatUsd(spend.weekly),
      monthly: formatUsd(spend.monthly),
    },
    remaining: {
      total: remaining(caps.totalNano, spend.total),
      daily: remaining(caps.dailyNano, spend.daily),
      weekly: remaining(caps.weeklyNano, spend.weekly),
      monthly: remaining(caps.monthlyNano, spend.monthly),
    },
    resets_at: {
      daily: iso(spend.resetsAt.daily),
      weekly: iso(spend.resetsAt.weekly),
      monthly: iso(spend.resetsAt.monthly),
    },
  };
}

/** null without a cap; never below zero, although a charge may exceed a soft cap. */
function remaining(capNano: NanoUsd | null, spentNano: NanoUsd): string | null {
  if (capNano === null) return null;
  return formatUsd(spentNano >= capNano ? 0n : capNano - spentNano);
}
