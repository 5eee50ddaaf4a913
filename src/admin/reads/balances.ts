/** Reads the balances of workspaces. docs/management.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { camelCased, type SnakeCased } from "../../base/casing.ts";
import type { Queryable } from "../../storage/index.ts";
import {
  cursorOf,
  pageLimit,
  pageOf,
  type Page,
  type PageRequest,
  type Visibility,
  type Workspace,
} from "../../tenancy/index.ts";

export interface Balance {
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
  /** How far below zero credits - charged may go; null: no limit. 0 for a prepaid workspace. */
  readonly creditLineNano: bigint | null;
  /** credits + credit line (0 if unlimited) - charged - held. Below zero if a call cost more than its bound. */
  readonly availableNano: bigint;
}

/** Selects the workspaces that the actor sees, or those of one organization. */
interface BalanceFilter {
  readonly organizationId?: string | undefined;
  readonly visibility: Visibility;
}

/** Parameters `$1` to `$3` come from `filterParams`. */
const matching = `($1::text is null or a.workspace_id in (select id from workspaces where organization_id = $1))
  and ($2::boolean or a.workspace_id = any($3::text[]))`;
const filterParams = ({ organizationId, visibility }: BalanceFilter) => [
  organizationId ?? null,
  visibility.everything,
  visibility.workspaceIds,
];

/** The sums over workspaces. */
export interface BalanceSum {
  readonly workspaces: number;
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
}

/** Sums the balances of all matching workspaces. `heldNano` includes allowances that are not in use yet. */
export async function sumBalances(database: Queryable, filter: BalanceFilter): Promise<BalanceSum> {
  // The sums may exceed a bigint.
  const [row] = await database.query<{ workspaces: number; sums: readonly string[] }>(
    `select count(*)::integer as workspaces, array[coalesce(sum(credits_nano), 0)::text,
       coalesce(sum(charged_nano), 0)::text, coalesce(sum(held_nano), 0)::text] as sums
     from ledger_accounts a where ${matching}`,
    filterParams(filter),
  );
  const [creditsNano, chargedNano, heldNano] = row!.sums.map(BigInt) as [bigint, bigint, bigint];
  return { workspaces: row!.workspaces, creditsNano, chargedNano, heldNano };
}

/** SQL sort key by available balance; workspaces without a limit come last. */
const place = (account: string, workspace: string): string =>
  `${workspace}.credit_line_nano is null,
   ${account}.credits_nano + coalesce(${workspace}.credit_line_nano, 0) - ${account}.charged_nano - ${account}.held_nano, ${workspace}.id`;

/**
 * Returns a page of workspaces, the least available balance first. Each page reads current balances: a workspace whose balance
 * changes meanwhile may appear twice or never. @throws GatewayError `invalid_value` (limit, cursor)
 */
export async function listByAvailable(
  database: Queryable,
  filter: BalanceFilter & PageRequest,
): Promise<Page<Pick<Workspace, "id" | "name">>> {
  const limit = pageLimit(filter.limit);
  const rows = await database.query<Pick<Workspace, "id" | "name">>(
    `select w.id, w.name from ledger_accounts a join workspaces w on w.id = a.workspace_id where ${matching}
       and ($4::text is null or (${place("a", "w")}) > (
         select ${place("b", "v")} from ledger_accounts b join workspaces v on v.id = b.workspace_id
         where v.id = $4 and ($2::boolean or v.id = any($3::text[]))))
     order by ${place("a", "w")} limit $5`,
    [...filterParams(filter), cursorOf(filter, "ws"), limit + 1],
  );
  return pageOf(rows, limit);
}

/** Returns the balances by workspace id, all as of one moment; ids that do not exist are absent. */
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

/** A key returns its headroom a moment after its last call (ledger/key-use.ts). Milliseconds to wait for it, and between checks. */
const settleWaitMs = 200;
const settleRetryMs = 20;

/**
 * Returns balances once unused headroom has gone back: then `held` is only what calls and tasks in flight reserve. If new calls
 * keep reserving headroom, reads the balances after 200 ms.
 */
export async function readSettledBalances(
  database: Queryable,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, Balance>> {
  const untilMs = performance.now() + settleWaitMs;
  const sql = `select exists (select from ledger_allowances where workspace_id = any($1::text[]) and idle_nano > 0) as idle`;
  for (;;) {
    const [row] = await database.query<{ readonly idle: boolean }>(sql, [workspaceIds]);
    if (!row!.idle || performance.now() >= untilMs) return readBalances(database, workspaceIds);
    await sleep(settleRetryMs);
  }
}
