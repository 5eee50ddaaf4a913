/** Credit: added to the account of a workspace, or taken back. docs/management.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import { assertAmount, formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";

export interface CreditInput {
  readonly workspaceId: string;
  /** A negative amount takes credit back, at most the sum of all credits so far. */
  readonly amountNano: bigint;
  /** Deduplicates: a repeated reference adds no second credit. */
  readonly reference: string;
  readonly note?: string | undefined;
}

export interface CreditResult {
  readonly outcome: "credited" | "already_credited";
  /** The id of the entry in the ledger; with `already_credited` that is the earlier entry, whose amount may differ. */
  readonly entryId: string;
  readonly amountNano: bigint;
  readonly balanceAfterNano: bigint;
  readonly createdAt: Date;
}

/** The public id of an entry. */
export const entryId = (entry: bigint): string => `entry_${entry}`;

type CreditRow = SnakeCased<Omit<CreditResult, "outcome" | "entryId">> & {
  readonly kind: string;
  readonly is_new: boolean;
  readonly entry: bigint;
};

/**
 * Adds credit to a workspace, or takes it back, in the transaction `tx`. Each reference counts once.
 * @throws GatewayError not_found, conflict, `invalid_value` (amount) where all credits would be more than an account can hold
 */
export async function creditIn(tx: Queryable, input: CreditInput): Promise<CreditResult> {
  const { workspaceId, amountNano, reference, note = null } = input;
  assertAmount(amountNano < 0n ? -amountNano : amountNano);
  const sql = "select * from ledger_credit($1, $2, $3, $4)";
  const [row] = await tx.query<CreditRow>(sql, [workspaceId, amountNano, reference, note]);
  if (row === undefined) throw await creditRefusal(tx, input);
  const { kind, is_new: isNew, entry, ...rest } = row;
  if (kind !== "credit")
    throw new GatewayError("conflict", "The reference belongs to another ledger entry.");
  const outcome = isNew ? "credited" : "already_credited";
  return { outcome, entryId: entryId(entry), ...camelCased(rest) };
}

/** Returns the reason that nothing was credited: no such workspace, or the sum of its credits would leave its range. */
async function creditRefusal(
  tx: Queryable,
  { workspaceId, amountNano }: CreditInput,
): Promise<GatewayError> {
  const [account] = await tx.query<{ readonly credits_nano: bigint; readonly max: bigint }>(
    "select credits_nano, ledger_credits_max() as max from ledger_accounts where workspace_id = $1",
    [workspaceId],
  );
  if (account === undefined)
    return new GatewayError("not_found", `No such workspace: ${workspaceId}.`);
  const credits = formatUsd(account.credits_nano);
  if (amountNano >= 0n)
    return invalidValue(
      "amount",
      `is too much: all credits of a workspace are at most $${formatUsd(account.max)} together, and it was credited $${credits}`,
    );
  return new GatewayError(
    "conflict",
    `$${formatUsd(-amountNano)} cannot be taken back: the workspace was credited $${credits} in all.`,
  );
}
