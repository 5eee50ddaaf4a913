/** What workspaces have left. docs/management.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { camelCased, type SnakeCased } from "../../base/casing.ts";
import type { Queryable } from "../../storage/index.ts";

export interface Balance {
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
  /** How far below zero credits - charged may go; null: without limit. 0 for a workspace that is prepaid. */
  readonly creditLineNano: bigint | null;
  /** credits + credit line (0 where it is without limit) - charged - held; below zero where a call cost more than its bound. */
  readonly availableNano: bigint;
}

/** What workspaces have left, all at one moment, by their ids; one that does not exist is not among them. */
export async function readBalances(
  database: Queryable,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, Balance>> {
  const rows = await database.query<SnakeCased<Balance> & { readonly workspace_id: string }>(
    `select a.workspace_id, credits_nano, charged_nano, held_nano, credit_line_nano,
       credits_nano + coalesce(credit_line_nano, 0) - charged_nano - held_nano as available_nano
     from ledger_accounts a join workspaces w on w.id = a.workspace_id where a.workspace_id = any($1::text[])`,
    [workspaceIds],
  );
  return new Map(rows.map(({ workspace_id: id, ...row }) => [id, camelCased(row)]));
}

/** Headroom goes back a moment after a key's last call (ledger/key-use.ts): so long it is waited for, and so often it is looked at. */
const restWaitMs = 200;
const restRetryMs = 20;

/**
 * The same without what is set aside for calls to come and not in use, once that has gone back: then `held` is what calls and tasks under
 * way reserve. Where calls go on, and new headroom with them, the answer is as of 200 ms later.
 */
export async function readBalancesAtRest(
  database: Queryable,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, Balance>> {
  const untilMs = performance.now() + restWaitMs;
  const sql = `select exists (select from ledger_allowances where workspace_id = any($1::text[]) and idle_nano > 0) as idle`;
  for (;;) {
    const [row] = await database.query<{ readonly idle: boolean }>(sql, [workspaceIds]);
    if (!row!.idle || performance.now() >= untilMs) return readBalances(database, workspaceIds);
    await sleep(restRetryMs);
  }
}
