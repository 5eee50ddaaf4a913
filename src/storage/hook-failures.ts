/** The last failure of each of the operator's hooks, on all gateways. docs/hooks.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import type { Queryable } from "./queryable.ts";

export interface HookFailure {
  readonly hook: string;
  /** The number of failures, including those since the last write that were not written one by one. */
  readonly failures: number;
  readonly why: string;
  /** The id of the call or task. */
  readonly call: string;
}

export interface HookFailures extends HookFailure {
  readonly firstFailedAt: Date;
  readonly failedAt: Date;
}

/** Records a failure, with one statement on one row. */
export async function noteHookFailure(
  database: Queryable,
  { hook, failures, why, call }: HookFailure,
): Promise<void> {
  await database.query(
    `insert into hook_failures as h (hook, failures, why, call_id) values ($1, $2, $3, $4)
     on conflict (hook) do update set failed_at = now(), failures = h.failures + excluded.failures,
       why = excluded.why, call_id = excluded.call_id`,
    [hook, failures, why, call],
  );
}

type Row = SnakeCased<Omit<HookFailures, "failures">> & { readonly failures: bigint };

/** Returns the recorded failures of the hooks with these names. */
export async function listHookFailures(
  database: Queryable,
  hooks: readonly string[],
): Promise<HookFailures[]> {
  const rows = await database.query<Row>(
    `select hook, failures, why, call_id as call, first_failed_at, failed_at
     from hook_failures where hook = any($1::text[])`,
    [hooks],
  );
  return rows.map((row) => ({ ...camelCased(row), failures: Number(row.failures) }));
}
