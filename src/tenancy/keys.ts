/**
 * API keys as records: create, read, change, reveal. Lists are in key-list.ts, state transitions in key-states.ts.
 * Requirements: KEY; docs/management.md. The caller checks permissions.
 */
import { GatewayError, invalidValue } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { changeRow } from "./changes.ts";
import { checkName, mergeAllowlist } from "./checks.ts";
import type { ChangeContext, ReadOptions, RowContext } from "./context.ts";
import { lockClause, onlyRow } from "./context.ts";
import type { BoundSettingsPatch } from "./key-bounds.ts";
import { mergeBounds, noBounds, renderBounds } from "./key-bounds.ts";
import { generateKey, parseKey } from "./key-format.ts";
import type { KeyRecord, KeyRow } from "./key-record.ts";
import { keyColumns, keyOfRow } from "./key-record.ts";
import { mergeRateLimits, rateLimitsParam } from "./rate-limits.ts";
import type { ResponseCachePatch } from "./response-cache.ts";
import { mergeResponseCache, responseCacheParam } from "./response-cache.ts";
import type { RoutingPatch } from "./routing-settings.ts";
import { followRouting, mergeRouting, renderRouting } from "./routing-settings.ts";
import type { Secrets } from "./secrets.ts";
import type { SpendCapsPatch } from "./spend-caps.ts";
import { mergeSpendCaps, noSpendCaps, spendCapColumns, spendCapParams } from "./spend-caps.ts";

/** Settings for creation and later changes. Absent: unchanged (at creation: none). null: no limit, none. */
export interface KeySettings extends BoundSettingsPatch {
  readonly spendCaps?: SpendCapsPatch | null | undefined;
  readonly routing?: RoutingPatch | null | undefined;
  readonly allowRequestOverride?: boolean | undefined;
  readonly responseCache?: ResponseCachePatch | null | undefined;
}

export interface KeyInput extends KeySettings {
  readonly workspaceId: string;
  readonly name: string;
  /** The user id of the owner. */
  readonly createdBy: string | null;
  /** True if an administrator sets this: the owner may not exceed it. */
  readonly binding?: boolean | undefined;
}

export interface KeyPatch extends KeySettings {
  readonly name?: string | undefined;
  /** As in `KeyInput`. */
  readonly binding?: boolean | undefined;
}

/** Identifies a key. If a workspace is given, a key of another workspace counts as missing. */
export interface KeyReference {
  readonly id: string;
  readonly workspaceId?: string | undefined;
}

/** A record with the full key: only at creation and on reveal. */
export interface KeyWithSecret {
  readonly record: KeyRecord;
  readonly key: string;
}

/** The two parameters of `whereReference`, first in every statement that uses it. */
export const referenceParams = (reference: KeyReference) => [
  reference.id,
  reference.workspaceId ?? null,
];
export const whereReference = "id = $1 and ($2::text is null or workspace_id = $2)";

/**
 * Creates an active key. The full `key` appears only here and in `revealKey`.
 * @throws GatewayError `missing_required_parameter` (KEY-06), `invalid_value` (also an expiry in the past: the key could never be
 * used), `not_found` (workspace)
 */
export async function createKey(
  context: RowContext & { readonly secrets: Secrets },
  input: KeyInput,
): Promise<KeyWithSecret> {
  const name = checkName(input.name);
  const nowMs = context.clock.now();
  if (input.expiresAt && input.expiresAt.getTime() <= nowMs)
    throw invalidValue("expires_at", "must be in the future, or null");
  const id = newId("key", nowMs);
  const key = generateKey();
  const hint = parseKey(key)!;
  // A new key needs no signal: no gateway caches that a key is unknown.
  const rows = await context.database.query<KeyRow>(
    `insert into api_keys (workspace_id, id, name, status, lookup, ciphertext, key_prefix, key_last4, created_by,
       created_at, updated_at, ${spendCapColumns}, model_allowlist, routing, allow_request_override, rate_limits, expires_at, bounds, response_cache)
     select w.id, $2, $3, 'active', $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15::jsonb, $16::jsonb, $17,
       $18::jsonb, $19, $20::jsonb, $21::json
     from workspaces w where w.id = $1
     returning ${keyColumns}`,
    [
      input.workspaceId,
      id,
      name,
      context.secrets.lookup(key),
      context.secrets.seal(id, key),
      hint.prefix,
      hint.last4,
      input.createdBy,
      new Date(nowMs),
      ...settingParams(emptySettings, input),
    ],
  );
  return { record: keyOfRow(onlyRow(rows, "workspace")), key };
}

type Settings = Pick<
  KeyRecord,
  | "spendCaps"
  | "modelAllowlist"
  | "routing"
  | "allowRequestOverride"
  | "rateLimits"
  | "expiresAt"
  | "bounds"
  | "responseCache"
>;

const emptySettings: Settings = {
  spendCaps: noSpendCaps,
  modelAllowlist: [],
  routing: followRouting,
  allowRequestOverride: false,
  rateLimits: null,
  expiresAt: null,
  bounds: noBounds,
  responseCache: null,
};

/** Parameters for the twelve setting columns after a patch, in the order of both statements of this file. */
function settingParams(
  current: Settings,
  patch: KeySettings & Pick<KeyPatch, "binding">,
): unknown[] {
  const limits = mergeRateLimits(current.rateLimits, patch.rateLimits);
  const modelAllowlist = mergeAllowlist(current.modelAllowlist, patch.modelAllowlist);
  const expiresAt = patch.expiresAt === undefined ? current.expiresAt : patch.expiresAt;
  if (expiresAt !== null && Number.isNaN(expiresAt.getTime())) {
    throw invalidValue("expires_at", "must be a time or null");
  }
  return [
    ...spendCapParams(mergeSpendCaps(current.spendCaps, patch.spendCaps)),
    JSON.stringify(modelAllowlist),
    JSON.stringify(renderRouting(mergeRouting(current.routing, patch.routing))),
    patch.allowRequestOverride ?? current.allowRequestOverride,
    rateLimitsParam(limits),
    expiresAt,
    JSON.stringify(
      renderBounds(
        patch.binding === true
          ? mergeBounds(current.bounds, patch, { modelAllowlist, rateLimits: limits, expiresAt })
          : current.bounds,
      ),
    ),
    responseCacheParam(mergeResponseCache(current.responseCache, patch.responseCache)),
  ];
}

/** One key's record. @throws GatewayError `not_found` */
export async function getKey(
  context: RowContext,
  reference: KeyReference,
  options?: ReadOptions,
): Promise<KeyRecord> {
  const rows = await context.database.query<KeyRow>(
    `select ${keyColumns} from api_keys where ${whereReference}${lockClause(options)}`,
    referenceParams(reference),
  );
  return keyOfRow(onlyRow(rows, "API key"));
}

/**
 * Changes only the fields that the patch names (T71, T78). The row is locked during the merge, so that concurrent changes of
 * different fields both persist. Returns the record as stored.
 * @throws GatewayError `not_found`, `invalid_value`, `missing_required_parameter` (an emptied name)
 */
export function changeKey(
  context: ChangeContext,
  reference: KeyReference,
  patch: KeyPatch,
): Promise<KeyRecord> {
  return changeRow(context.database, "keys", async (tx) => {
    const current = await getKey({ ...context, database: tx }, reference, { forUpdate: true });
    const rows = await tx.query<KeyRow>(
      `update api_keys set name = $3, updated_at = $4, cap_total_nano = $5, cap_monthly_nano = $6, cap_weekly_nano = $7,
         cap_daily_nano = $8, cap_hard = $9, model_allowlist = $10::jsonb, routing = $11::jsonb,
         allow_request_override = $12, rate_limits = $13::jsonb, expires_at = $14, bounds = $15::jsonb,
         response_cache = $16::json
       where id = $1 and workspace_id = $2
       returning ${keyColumns}`,
      [
        current.id,
        current.workspaceId,
        patch.name === undefined ? current.name : checkName(patch.name),
        new Date(context.clock.now()),
        ...settingParams(current, patch),
      ],
    );
    return keyOfRow(onlyRow(rows, "API key"));
  });
}

/**
 * Returns the full key again (KEY-04). The caller has checked the right to see it.
 * @throws GatewayError `conflict` for a legacy key that keeps only its prefix (KEY-05), `not_found`
 */
export async function revealKey(
  context: RowContext & { readonly secrets: Secrets },
  reference: KeyReference,
): Promise<KeyWithSecret> {
  const rows = await context.database.query<KeyRow & { ciphertext: Buffer | null }>(
    `select ${keyColumns}, ciphertext from api_keys where ${whereReference}`,
    referenceParams(reference),
  );
  const row = onlyRow(rows, "API key");
  if (row.ciphertext === null) {
    throw new GatewayError(
      "conflict",
      "This legacy API key keeps only its prefix and cannot be shown. Create a new key instead.",
    );
  }
  return { record: keyOfRow(row), key: context.secrets.unseal(row.id, row.ciphertext) };
}
