/** The account of a workspace: what it has left, and credit. docs/management.md. */
import { setTimeout as sleep } from "node:timers/promises";
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import { formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import { checkAmount } from "./types.ts";

export interface Balance {
  readonly creditsNano: bigint;
  readonly chargedNano: bigint;
  readonly heldNano: bigint;
  /** How far below zero credits - charged may go; null: without limit. 0 for a workspace that is prepaid. */
  readonly creditLineNano: bigint | null;
  /** credits + credit line (0 where it is without limit) - charged - held; below zero where a call cost more than its bound. */
  readonly availableNano: bigint;
}

export interface CreditInput {
  readonly workspaceId: string;
  /** Below zero it takes credit back, at most all that was ever credited. */
  readonly amountNano: bigint;
  /** The same reference twice is one credit. */
  readonly reference: string;
  readonly note?: string | undefined;
}

export interface CreditResult {
  readonly outcome: "credited" | "already_credited";
  /** Of the entry that stands: with `already_credited` the earlier one, whose amount may differ. */
  readonly entryId: string;
  readonly amountNano: bigint;
  readonly balanceAfterNano: bigint;
  readonly createdAt: Date;
}

/** The public id of an entry. */
export const entryId = (entry: bigint): string => `entry_${entry}`;

/** What workspaces have left, all at one moment, by their ids; one that does not exist is not among them. */
async function readBalances(
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

/** Headroom goes back a moment after a key's last call (key-use.ts): so long it is waited for, and so often it is looked at. */
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

/** What a workspace has left. @throws GatewayError not_found */
export async function readBalance(database: Queryable, workspaceId: string): Promise<Balance> {
  const balance = (await readBalances(database, [workspaceId])).get(workspaceId);
  if (balance === undefined)
    throw new GatewayError("not_found", `No such workspace: ${workspaceId}.`);
  return balance;
}

type CreditRow = SnakeCased<Omit<CreditResult, "outcome" | "entryId">> & {
  readonly kind: string;
  readonly is_new: boolean;
  readonly entry: bigint;
};

/** Why nothing was credited: there is no such workspace, or its credits would leave their range. */
async function creditRefusal(tx: Queryable, input: CreditInput): Promise<GatewayError> {
  const { creditsNano } = await readBalance(tx, input.workspaceId);
  const credits = formatUsd(creditsNano);
  if (input.amountNano < 0n)
    return new GatewayError(
      "conflict",
      `$${formatUsd(-input.amountNano)} cannot be taken back: the workspace was credited $${credits} in all.`,
    );
  const [row] = await tx.query<{ max: bigint }>("select ledger_credits_max() as max");
  const max = formatUsd(row!.max);
  return invalidValue(
    "amount",
    `is too much: all credits of a workspace are at most $${max} together, and it was credited $${credits}`,
  );
}

/**
 * Adds credit, or takes it back, within `tx`; once per reference.
 * @throws GatewayError not_found, conflict, `invalid_value` (amount) where all credits would be more than an account can hold
 */
export async function creditIn(tx: Queryable, input: CreditInput): Promise<CreditResult> {
  const { workspaceId, amountNano, reference, note = null } = input;
  checkAmount(amountNano < 0n ? -amountNano : amountNano);
  const params = [workspaceId, amountNano, reference, note];
  const sql = "select * from ledger_credit($1, $2, $3, $4)";
  const [row] = await tx.query<CreditRow>(sql, params);
  if (row === undefined) throw await creditRefusal(tx, input);
  const { kind, is_new: isNew, entry, ...rest } = row;
  if (kind !== "credit")
    throw new GatewayError("conflict", "The reference belongs to another ledger entry.");
  const outcome = isNew ? "credited" : "already_credited";
  return { outcome, entryId: entryId(entry), ...camelCased(rest) };
}
