/**
 * The caller of a request: an API key and the layers above it, as one value that the request carries along.
 * AUTH-05. It holds no money: the ledger decides caps and balance in the database.
 */
import type { Queryable } from "../storage/index.ts";
import type { KeySettingsRow, KeyStatus } from "./key-record.ts";
import type { RateLimits, RateLimitsJson } from "./rate-limits.ts";
import { rateLimitsOfRow } from "./rate-limits.ts";
import type { ResponseCache } from "./response-cache.ts";
import { responseCacheOfRow } from "./response-cache.ts";
import type { RoutingJson, RoutingSettings } from "./routing-settings.ts";
import { routingOfRow } from "./routing-settings.ts";
import type { TemporaryValue } from "./temporary-key.ts";
import type { KeepBodies, WorkspaceStatus } from "./workspaces.ts";

/** The model and provider settings of one layer. */
export interface ScopeLayer {
  readonly modelAllowlist: readonly string[];
  readonly routing: RoutingSettings;
}

/** Rate limits, and the scope that they apply to. */
export interface ScopeLimits {
  readonly scope: "workspace" | "member" | "key";
  readonly id: string;
  readonly limits: RateLimits;
}

/** A caller who may call. Shared between requests, so never changed. */
export interface Caller {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly organizationId: string | null;
  /** The user who created the key, whose member caps apply; null for legacy keys without an owner. */
  readonly memberId: string | null;
  /** Index of the value that this caller used: the number of rotations before it. The ledger checks whether that value still works. */
  readonly keyRotation: number;
  /** When this value stops working: the key's expiry, the end of its grace after a rotation, or its own expiry, whichever is earliest. */
  readonly expiresAt: Date | null;
  /** Set if `expiresAt` is not the key's own expiry but the end of a value: of one that a rotation replaced, or of a temporary one. */
  readonly endOf?: "replaced" | "temporary" | undefined;
  /** Workspace first, then member, then key; scopes without limits are left out. */
  readonly limits: readonly ScopeLimits[];
  readonly allowRequestOverride: boolean;
  /** null: no response is served from the cache. */
  readonly responseCache: ResponseCache | null;
  /** Which calls the workspace keeps word for word. */
  readonly keepBodies: KeepBodies;
  /** null for a personal workspace. */
  readonly organization: ScopeLayer | null;
  readonly workspace: ScopeLayer;
  readonly key: ScopeLayer;
}

/** A key as stored in the database, usable or not. */
export interface LoadedKey {
  readonly caller: Caller;
  readonly status: KeyStatus;
  readonly workspaceStatus: WorkspaceStatus;
}

interface CallerRow extends Omit<KeySettingsRow, "name"> {
  readonly rotations: number;
  readonly previous_expires_at: Date | null;
  /** True if the value that was looked up is the one before the last rotation. */
  readonly is_previous: boolean;
  readonly workspace_status: WorkspaceStatus;
  readonly keep_bodies: KeepBodies;
  readonly workspace_allowlist: readonly string[];
  readonly workspace_routing: Partial<RoutingJson> | null;
  readonly workspace_limits: Partial<RateLimitsJson> | null;
  readonly member_limits: Partial<RateLimitsJson> | null;
  readonly organization_id: string | null;
  readonly organization_allowlist: readonly string[] | null;
  readonly organization_routing: Partial<RoutingJson> | null;
  /** Remaining milliseconds of a temporary value, by the database's clock; null for a key's own value. */
  readonly left_ms: number | null;
}

/** A value of a key, in the form that is looked up: its HMAC, or the content of a temporary value. */
export type KeyValue = { readonly lookup: Buffer } | TemporaryValue;

const selecting = (isPrevious: string, leftMs: string, where: string) =>
  `select k.id, k.workspace_id, k.status, k.created_by, k.model_allowlist, k.routing, k.allow_request_override,
     k.rate_limits, k.response_cache, k.expires_at, k.rotations, k.previous_expires_at, ${isPrevious} as is_previous, ${leftMs} as left_ms,
     w.status as workspace_status, w.keep_bodies, w.model_allowlist as workspace_allowlist, w.routing as workspace_routing,
     w.rate_limits as workspace_limits, m.rate_limits as member_limits,
     o.id as organization_id, o.model_allowlist as organization_allowlist, o.routing as organization_routing
   from api_keys k join workspaces w on w.id = k.workspace_id left join organizations o on o.id = w.organization_id
     left join members m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
   where ${where}`;

const byLookup = selecting(
  "k.lookup <> $1",
  "null::float8",
  "k.lookup = $1 or k.previous_lookup = $1",
);
/** Selects by the content of a temporary value: the same rows as for the key value that it stands for. */
const byId = selecting(
  "k.rotations <> $2",
  "($3 - extract(epoch from now()) * 1000)::float8",
  "k.id = $1 and k.rotations in ($2::integer, $2::integer + 1)",
);

const rowsOf = (database: Queryable, value: KeyValue): Promise<CallerRow[]> =>
  "lookup" in value
    ? database.query<CallerRow>(byLookup, [value.lookup], { name: "tenancy_load_key" })
    : database.query<CallerRow>(byId, [value.keyId, value.rotation, value.expiresAtMs], {
        name: "tenancy_load_key_by_id",
      });

/**
 * Loads the key and its layers by its current value or the value before its last rotation. Undefined if there is no such key. `nowMs`
 * is this process's time; the expiry of a temporary value is computed from it.
 */
export async function loadKey(
  database: Queryable,
  value: KeyValue,
  nowMs: number,
): Promise<LoadedKey | undefined> {
  const [row] = await rowsOf(database, value);
  if (row === undefined) return undefined;
  const end = row.left_ms === null ? null : new Date(nowMs + Math.floor(row.left_ms));
  const caller = callerOfRow(row, end);
  return { caller, status: row.status, workspaceStatus: row.workspace_status };
}

function callerOfRow(row: CallerRow, end: Date | null): Caller {
  const ownEnd = row.is_previous
    ? earlier(row.expires_at, row.previous_expires_at)
    : row.expires_at;
  return Object.freeze({
    keyId: row.id,
    workspaceId: row.workspace_id,
    organizationId: row.organization_id,
    memberId: row.created_by,
    keyRotation: row.is_previous ? row.rotations - 1 : row.rotations,
    expiresAt: earlier(ownEnd, end),
    ...endOf(row.expires_at, ownEnd, end),
    limits: limitsOf(row),
    allowRequestOverride: row.allow_request_override,
    responseCache: responseCacheOfRow(row.response_cache),
    keepBodies: row.keep_bodies,
    organization:
      row.organization_id === null
        ? null
        : layer(row.organization_allowlist, row.organization_routing),
    workspace: layer(row.workspace_allowlist, row.workspace_routing),
    key: layer(row.model_allowlist, row.routing),
  });
}

function limitsOf(row: CallerRow): ScopeLimits[] {
  const scopes = [
    { scope: "workspace", id: row.workspace_id, json: row.workspace_limits },
    { scope: "member", id: row.created_by, json: row.member_limits },
    { scope: "key", id: row.id, json: row.rate_limits },
  ] as const;
  return scopes.flatMap(({ scope, id, json }) => {
    const limits = rateLimitsOfRow(json);
    return limits === null || id === null ? [] : [{ scope, id, limits }];
  });
}

/** Tells which end comes first: the key's expiry, that of the replaced value, or that of the temporary one. */
function endOf(
  expiry: Date | null,
  ownEnd: Date | null,
  end: Date | null,
): Pick<Caller, "endOf"> | undefined {
  if (end !== null && earlier(ownEnd, end) === end) return { endOf: "temporary" };
  return ownEnd !== null && ownEnd !== expiry ? { endOf: "replaced" } : undefined;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function layer(
  allowlist: readonly string[] | null,
  routing: Partial<RoutingJson> | null,
): ScopeLayer {
  return { modelAllowlist: allowlist ?? [], routing: routingOfRow(routing) };
}
