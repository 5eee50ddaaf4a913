import { expect, it } from "vitest";
import { renderKey, type KeyRecord, type KeySpend } from "../../src/tenancy/index.ts";
import { startMs } from "./support.ts";

const spent: KeySpend = {
  total: 3_100_000_000n,
  daily: 400_000_001n,
  weekly: 1_000_000_000n,
  monthly: 3_100_000_000n,
  resetsAt: {
    daily: new Date("2026-11-21T00:00:00.000Z"),
    weekly: new Date("2026-11-23T00:00:00.000Z"),
    monthly: new Date("2026-12-01T00:00:00.000Z"),
  },
};

it("KEY-16: a key record is rendered with exactly these fields", () => {
  const record: KeyRecord = {
    id: "key_1",
    workspaceId: "ws_1",
    name: "ci",
    status: "active",
    prefix: "gw_live_ab12",
    last4: "9xYz",
    revealable: true,
    createdBy: null,
    spendCaps: {
      totalNano: 100_000_000_000n,
      monthlyNano: 3_000_000_000n,
      weeklyNano: null,
      dailyNano: 0n,
      hard: false,
    },
    modelAllowlist: ["vendor/model"],
    routing: {
      mode: "custom",
      sort: "price",
      supplyTiers: ["official", "partner"],
      pinnedProviders: ["a", "b"],
      preferredProviders: ["b"],
    },
    allowRequestOverride: false,
    responseCache: { ttlSeconds: 60, chargePercent: 5 },
    rateLimits: { requestsPerMinute: 60, tokensPerMinute: null, concurrency: null },
    expiresAt: null,
    bounds: {
      disabled: false,
      modelAllowlist: null,
      rateLimits: { requestsPerMinute: null, tokensPerMinute: null, concurrency: null },
      expiresAt: null,
    },
    createdAt: new Date(startMs),
    updatedAt: new Date(startMs),
    lastUsedAt: new Date(startMs + 1),
    revokedAt: null,
  };
  const wire = renderKey(record, spent);
  expect(JSON.parse(JSON.stringify(wire))).toEqual({
    id: "key_1",
    object: "api_key",
    name: "ci",
    status: "active",
    key_prefix: "gw_live_ab12",
    key_last4: "9xYz",
    revealable: true,
    workspace_id: "ws_1",
    created_by: null,
    created_at: "2026-11-20T10:00:00.000Z",
    updated_at: "2026-11-20T10:00:00.000Z",
    last_used_at: "2026-11-20T10:00:00.001Z",
    revoked_at: null,
    expires_at: null,
    spend_caps: { total: "100", daily: "0", weekly: null, monthly: "3", hard: false },
    spend: { total: "3.1", daily: "0.400000001", weekly: "1", monthly: "3.1" },
    remaining: { total: "96.9", daily: "0", weekly: null, monthly: "0" },
    resets_at: {
      daily: "2026-11-21T00:00:00.000Z",
      weekly: "2026-11-23T00:00:00.000Z",
      monthly: "2026-12-01T00:00:00.000Z",
    },
    model_allowlist: ["vendor/model"],
    routing: {
      mode: "custom",
      sort: "price",
      supply_tiers: ["official", "partner"],
      pinned_providers: ["a", "b"],
      preferred_providers: ["b"],
    },
    allow_request_override: false,
    rate_limits: { requests_per_minute: 60, tokens_per_minute: null, concurrency: null },
    response_cache: { ttl_seconds: 60, charge_percent: 5 },
  });
});
