/** Workspaces: the tenant that keys, tasks and money belong to. Requirements: KEY. */
import { invalidValue } from "../base/errors.ts";
import type { SnakeCased } from "../base/casing.ts";
import { newId } from "../base/ids.ts";
import type { NanoUsd } from "../base/money.ts";
import { mergeThresholds, defaultThresholds } from "./alert-thresholds.ts";
import { changeRow } from "./changes.ts";
import { checkName, mergeAllowlist } from "./checks.ts";
import type { CreditLine } from "./credit-line.ts";
import type { ChangeContext, Page, PageRequest, ReadOptions, RowContext } from "./context.ts";
import { cursorOf, onlyRow, pageLimit, pageOf, recordById, type RowKind } from "./context.ts";
import { mergeRateLimits, rateLimitsOfRow, rateLimitsParam } from "./rate-limits.ts";
import type { RateLimits, RateLimitsJson, RateLimitsPatch } from "./rate-limits.ts";
import type { RoutingJson, RoutingPatch, RoutingSettings } from "./routing-settings.ts";
import { followRouting, mergeRouting, renderRouting, routingOfRow } from "./routing-settings.ts";
import type { SpendCaps, SpendCapsPatch, SpendCapsRow } from "./spend-caps.ts";
import {
  mergeSpendCaps,
  noSpendCaps,
  spendCapColumns,
  spendCapParams,
  spendCapsOfRow,
} from "./spend-caps.ts";
import type { Visibility } from "./visibility.ts";

/** disabled: every call of every key fails with 403 until it is active again. */
export type WorkspaceStatus = "active" | "disabled";

/** Which calls are kept word for word: none, failed calls, or all. */
export type KeepBodies = "off" | "errors" | "all";

export interface Workspace {
  readonly id: string;
  /** null for a personal workspace. */
  readonly organizationId: string | null;
  readonly name: string;
  readonly status: WorkspaceStatus;
  readonly spendCaps: SpendCaps;
  /** How far it may spend beyond its credits; null: unlimited. */
  readonly creditLineNano: CreditLine;
  readonly modelAllowlist: readonly string[];
  readonly routing: RoutingSettings;
  readonly rateLimits: RateLimits | null;
  /** The URL for alerts about its spend caps; null: none. */
  readonly alertWebhookUrl: string | null;
  /** Percentages of a spend cap, ascending. */
  readonly alertThresholds: readonly number[];
  /** The workspace is warned when its balance is at or below this; null: never. */
  readonly lowBalanceNano: NanoUsd | null;
  readonly keepBodies: KeepBodies;
  /** How many days bodies are kept, 1 to 90. */
  readonly bodyRetentionDays: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type WorkspaceRow = SnakeCased<Omit<Workspace, "spendCaps" | "routing" | "rateLimits">> &
  SpendCapsRow & {
    readonly routing: Partial<RoutingJson> | null;
    readonly rate_limits: Partial<RateLimitsJson> | null;
  };

/** Absent: unchanged. null: none, no limit. */
export interface WorkspacePatch {
  readonly name?: string | undefined;
  readonly status?: WorkspaceStatus | undefined;
  readonly spendCaps?: SpendCapsPatch | null | undefined;
  /** null: unlimited. */
  readonly creditLineNano?: CreditLine | undefined;
  readonly modelAllowlist?: readonly string[] | null | undefined;
  readonly routing?: RoutingPatch | null | undefined;
  readonly rateLimits?: RateLimitsPatch | null | undefined;
  /** A URL that the caller has checked. */
  readonly alertWebhookUrl?: string | null | undefined;
  /** null: the default thresholds. */
  readonly alertThresholds?: readonly number[] | null | undefined;
  /** From 0 to the maximum of a credit line. */
  readonly lowBalanceNano?: NanoUsd | null | undefined;
  readonly keepBodies?: KeepBodies | undefined;
  readonly bodyRetentionDays?: number | undefined;
}

export interface WorkspaceInput extends Omit<WorkspacePatch, "status"> {
  readonly name: string;
  readonly organizationId: string | null;
}

const bodyDaysDefault = 7;

const columns = `id, organization_id, name, status, ${spendCapColumns}, model_allowlist, routing, rate_limits, alert_webhook_url, alert_thresholds, low_balance_nano, credit_line_nano, keep_bodies, body_retention_days, created_at, updated_at`;

function ofRow(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    status: row.status,
    spendCaps: spendCapsOfRow(row),
    creditLineNano: row.credit_line_nano,
    modelAllowlist: row.model_allowlist,
    routing: routingOfRow(row.routing),
    rateLimits: rateLimitsOfRow(row.rate_limits),
    alertWebhookUrl: row.alert_webhook_url,
    alertThresholds: row.alert_thresholds,
    lowBalanceNano: row.low_balance_nano,
    keepBodies: row.keep_bodies,
    bodyRetentionDays: row.body_retention_days,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

const kind: RowKind<WorkspaceRow, Workspace> = {
  table: "workspaces",
  columns,
  what: "workspace",
  record: ofRow,
};

/** @throws GatewayError `missing_required_parameter`, `invalid_value`, `not_found` (organization) */
export async function createWorkspace(
  context: RowContext,
  input: WorkspaceInput,
): Promise<Workspace> {
  const nowMs = context.clock.now();
  const name = checkName(input.name);
  const rows = await context.database.query<WorkspaceRow>(
    `insert into workspaces (id, organization_id, name, status, created_at, updated_at, ${spendCapColumns},
       model_allowlist, routing, rate_limits, alert_webhook_url, credit_line_nano, alert_thresholds, keep_bodies, body_retention_days, low_balance_nano)
     select $1, $2, $3, 'active', $4, $4, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::boolean, $10::jsonb, $11::jsonb, $12::jsonb, $13, $14::bigint, $15::integer[], $16, $17::integer, $18::bigint
     where $2::text is null or exists (select 1 from organizations where id = $2)
     returning ${columns}`,
    [
      newId("ws", nowMs),
      input.organizationId,
      name,
      new Date(nowMs),
      ...spendCapParams(mergeSpendCaps(noSpendCaps, input.spendCaps)),
      JSON.stringify(mergeAllowlist([], input.modelAllowlist)),
      JSON.stringify(renderRouting(mergeRouting(followRouting, input.routing))),
      rateLimitsParam(mergeRateLimits(null, input.rateLimits)),
      input.alertWebhookUrl ?? null,
      input.creditLineNano === undefined ? 0n : input.creditLineNano,
      mergeThresholds(defaultThresholds, input.alertThresholds),
      input.keepBodies ?? "off",
      input.bodyRetentionDays ?? bodyDaysDefault,
      input.lowBalanceNano ?? null,
    ],
  );
  return ofRow(onlyRow(rows, "organization"));
}

/** @throws GatewayError `not_found` */
export const getWorkspace = (
  context: RowContext,
  id: string,
  options?: ReadOptions,
): Promise<Workspace> => recordById(kind, context, id, options);

/** Newest first; only those of one organization if it is named. */
export async function listWorkspaces(
  context: RowContext,
  filter: PageRequest & {
    readonly organizationId?: string | undefined;
    /** Limits the list to what its reader may see; everything if absent. */
    readonly visibility?: Visibility | undefined;
  },
): Promise<Page<Workspace>> {
  const limit = pageLimit(filter.limit);
  const rows = await context.database.query<WorkspaceRow>(
    `select ${columns} from workspaces
     where ($1::text is null or organization_id = $1) and ($2::text is null or id < $2)
       and ($4::boolean or id = any($5::text[]))
     order by id desc limit $3`,
    [
      filter.organizationId ?? null,
      cursorOf(filter, "ws"),
      limit + 1,
      filter.visibility?.everything ?? true,
      filter.visibility?.workspaceIds ?? [],
    ],
  );
  return pageOf(rows.map(ofRow), limit);
}

/** Changes only the fields that the patch names. @throws GatewayError `not_found`, `invalid_value` */
export function changeWorkspace(
  context: ChangeContext,
  id: string,
  patch: WorkspacePatch,
): Promise<Workspace> {
  return changeRow(context.database, "workspaces", async (tx) => {
    const current = await recordById(kind, { database: tx }, id, { forUpdate: true });
    const rows = await tx.query<WorkspaceRow>(
      `update workspaces set name = $2, status = $3, updated_at = $4, cap_total_nano = $5, cap_monthly_nano = $6,
         cap_weekly_nano = $7, cap_daily_nano = $8, cap_hard = $9, model_allowlist = $10::jsonb, routing = $11::jsonb,
         rate_limits = $12::jsonb, alert_webhook_url = $13, credit_line_nano = $14, alert_thresholds = $15::integer[],
         keep_bodies = $16, body_retention_days = $17::integer, low_balance_nano = $18::bigint
       where id = $1 returning ${columns}`,
      [id, ...changedParams(current, patch, new Date(context.clock.now()))],
    );
    return ofRow(onlyRow(rows, "workspace"));
  });
}

function changedParams(current: Workspace, patch: WorkspacePatch, now: Date): unknown[] {
  const status = patch.status ?? current.status;
  if (status !== "active" && status !== "disabled") {
    throw invalidValue("status", "must be active or disabled");
  }
  const allowlist = mergeAllowlist(current.modelAllowlist, patch.modelAllowlist);
  return [
    patch.name === undefined ? current.name : checkName(patch.name),
    status,
    now,
    ...spendCapParams(mergeSpendCaps(current.spendCaps, patch.spendCaps)),
    JSON.stringify(allowlist),
    JSON.stringify(renderRouting(mergeRouting(current.routing, patch.routing))),
    rateLimitsParam(mergeRateLimits(current.rateLimits, patch.rateLimits)),
    patch.alertWebhookUrl === undefined ? current.alertWebhookUrl : patch.alertWebhookUrl,
    patch.creditLineNano === undefined ? current.creditLineNano : patch.creditLineNano,
    mergeThresholds(current.alertThresholds, patch.alertThresholds),
    patch.keepBodies ?? current.keepBodies,
    patch.bodyRetentionDays ?? current.bodyRetentionDays,
    patch.lowBalanceNano === undefined ? current.lowBalanceNano : patch.lowBalanceNano,
  ];
}
