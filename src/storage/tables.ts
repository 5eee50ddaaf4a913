/** The tables of ./migrations as Kysely sees them. Money is bigint nano-USD; jsonb is written as JSON text. */
import type { ColumnType, Generated } from "kysely";

/** A jsonb column: read parsed, written as `JSON.stringify` text (the driver would write an array as an SQL array). */
export type Json<Read> = ColumnType<Read, string, string>;
/** A column with a default: optional on insert. */
type WithDefault<Value> = Generated<Value>;
type Optional<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;
/** A jsonb column with a default or null. */
type OptionalJson<Read> = ColumnType<Read, string | null | undefined, string | null>;

interface Stamps {
  created_at: WithDefault<Date>;
  updated_at: WithDefault<Date>;
}

/** The five columns of spend caps, the same in workspaces, members and api_keys. Null is no limit, 0 is nothing at all. */
export interface CapColumns {
  cap_total_nano: Optional<bigint>;
  cap_monthly_nano: Optional<bigint>;
  cap_weekly_nano: Optional<bigint>;
  cap_daily_nano: Optional<bigint>;
  /** True: open holds count too, so the cap cannot be passed whatever the concurrency. */
  cap_hard: WithDefault<boolean>;
}

export interface OrganizationsTable extends Stamps {
  id: string;
  name: string;
  model_allowlist: OptionalJson<string[]>;
  routing: OptionalJson<unknown>;
}

export interface WorkspacesTable extends Stamps, CapColumns {
  id: string;
  organization_id: Optional<string>;
  name: string;
  status: WithDefault<"active" | "disabled">;
  model_allowlist: OptionalJson<string[]>;
  routing: OptionalJson<unknown>;
  signing_version: WithDefault<number>;
  signing_enabled: WithDefault<boolean>;
  signing_rotated_at: Optional<Date>;
  alert_webhook_url: Optional<string>;
}

export interface UsersTable extends Stamps {
  id: string;
  email: string;
  name: string;
  role: WithDefault<"admin" | "user">;
}

export interface MembersTable extends Stamps, CapColumns {
  workspace_id: string;
  user_id: string;
  role: WithDefault<"admin" | "member">;
}

export interface ApiKeysTable extends Stamps, CapColumns {
  workspace_id: string;
  id: string;
  name: string;
  status: WithDefault<"active" | "disabled" | "revoked">;
  lookup: Buffer;
  rotations: WithDefault<number>;
  previous_lookup: Optional<Buffer>;
  previous_expires_at: Optional<Date>;
  ciphertext: Optional<Buffer>;
  key_prefix: string;
  key_last4: string;
  created_by: Optional<string>;
  model_allowlist: OptionalJson<string[]>;
  routing: OptionalJson<unknown>;
  allow_request_override: WithDefault<boolean>;
  rate_limits: OptionalJson<unknown>;
  expires_at: Optional<Date>;
  last_used_at: Optional<Date>;
  revoked_at: Optional<Date>;
}

/** The view of the request log; its tables are written by the log's writer only. */
export interface RequestLogView {
  workspace_id: string;
  id: string;
  created_at: Date;
  key_id: string | null;
  model: string | null;
  provider: string | null;
  protocol: string | null;
  upstream_protocol: string | null;
  status: string | null;
  http_status: number | null;
  usage: unknown;
  usage_source: string | null;
  cost_nano: bigint;
  duration_ms: number | null;
  first_token_ms: number | null;
  dropped: unknown;
  notes: unknown;
  attempts: unknown;
  explanation: unknown;
}

export interface SettingsTable {
  name: string;
  value: Json<unknown>;
}

/** Written by the ledger's functions only; here for reading. */
export interface LedgerEntriesTable {
  workspace_id: string;
  reference: string;
  entry: bigint;
  kind: "credit" | "charge" | "void" | "expire";
  amount_nano: bigint;
  held_nano: bigint;
  balance_after_nano: bigint;
  key_id: string | null;
  member_id: string | null;
  note: string | null;
  created_at: Date;
}

/** Written by the ledger's functions only; here for reading. */
export interface LedgerAccountsTable {
  workspace_id: string;
  credits_nano: bigint;
  charged_nano: bigint;
  held_nano: bigint;
}

export interface Tables {
  organizations: OrganizationsTable;
  workspaces: WorkspacesTable;
  users: UsersTable;
  members: MembersTable;
  api_keys: ApiKeysTable;
  request_log: RequestLogView;
  settings: SettingsTable;
  ledger_entries: LedgerEntriesTable;
  ledger_accounts: LedgerAccountsTable;
}
