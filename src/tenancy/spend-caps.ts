/** The four spend caps of a workspace, a member or a key, as a value. Requirements: CAP. The ledger enforces them. */
import { invalidValue } from "../base/errors.ts";
import type { NanoUsd } from "../base/money.ts";
import { formatUsd } from "../base/money.ts";

/** null: no limit for that window; 0: nothing may be spent. `hard`: open holds count too. */
export interface SpendCaps {
  readonly totalNano: NanoUsd | null;
  readonly monthlyNano: NanoUsd | null;
  readonly weeklyNano: NanoUsd | null;
  readonly dailyNano: NanoUsd | null;
  readonly hard: boolean;
}

/** Absent: unchanged. null: no limit. A null patch removes all limits. */
export type SpendCapsPatch = { readonly [Name in keyof SpendCaps]?: SpendCaps[Name] | undefined };

/** The cap columns, the same in every table that has them. */
export interface SpendCapsRow {
  readonly cap_total_nano: bigint | null;
  readonly cap_monthly_nano: bigint | null;
  readonly cap_weekly_nano: bigint | null;
  readonly cap_daily_nano: bigint | null;
  readonly cap_hard: boolean;
}

export const noSpendCaps: SpendCaps = {
  totalNano: null,
  monthlyNano: null,
  weeklyNano: null,
  dailyNano: null,
  hard: false,
};

/** The columns in the order of `spendCapParams`. */
export const spendCapColumns =
  "cap_total_nano, cap_monthly_nano, cap_weekly_nano, cap_daily_nano, cap_hard";

/** The largest int8. The database cannot store a larger cap. */
export const capNanoMax = 2n ** 63n - 1n;

function checkCap(value: NanoUsd | null, window: string): NanoUsd | null {
  if (value === null || (value >= 0n && value <= capNanoMax)) return value;
  const rule = `must be an amount from 0 to ${formatUsd(capNanoMax)}, or null for no limit`;
  throw invalidValue(`spend_caps.${window}`, rule);
}

/** The caps after a patch. @throws GatewayError `invalid_value` for a negative or absurd amount. */
export function mergeSpendCaps(
  current: SpendCaps,
  patch: SpendCapsPatch | null | undefined,
): SpendCaps {
  if (patch === undefined) return current;
  if (patch === null) return noSpendCaps;
  const pick = (value: NanoUsd | null | undefined, old: NanoUsd | null) =>
    value === undefined ? old : value;
  return {
    totalNano: checkCap(pick(patch.totalNano, current.totalNano), "total"),
    monthlyNano: checkCap(pick(patch.monthlyNano, current.monthlyNano), "monthly"),
    weeklyNano: checkCap(pick(patch.weeklyNano, current.weeklyNano), "weekly"),
    dailyNano: checkCap(pick(patch.dailyNano, current.dailyNano), "daily"),
    hard: patch.hard ?? current.hard,
  };
}

export function spendCapsOfRow(row: SpendCapsRow): SpendCaps {
  return {
    totalNano: row.cap_total_nano,
    monthlyNano: row.cap_monthly_nano,
    weeklyNano: row.cap_weekly_nano,
    dailyNano: row.cap_daily_nano,
    hard: row.cap_hard,
  };
}

/** Parameters in the order of `spendCapColumns`. */
export function spendCapParams(caps: SpendCaps): unknown[] {
  return [caps.totalNano, caps.monthlyNano, caps.weeklyNano, caps.dailyNano, caps.hard];
}

/** On the wire: decimal strings or null (docs/management.md). */
export function renderSpendCaps(caps: SpendCaps): Record<string, string | boolean | null> {
  const usd = (value: NanoUsd | null) => (value === null ? null : formatUsd(value));
  return {
    total: usd(caps.totalNano),
    daily: usd(caps.dailyNano),
    weekly: usd(caps.weeklyNano),
    monthly: usd(caps.monthlyNano),
    hard: caps.hard,
  };
}
