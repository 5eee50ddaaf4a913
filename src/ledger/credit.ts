/** Credit: added to the account of a workspace, or taken back. docs/management.md. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { GatewayError, invalidValue } from "../base/errors.ts";
import { formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import { checkAmount } from "./types.ts";

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

type CreditRow = SnakeCased<Omit<CreditResult, "outcome" | "entryId">> & {
  readonly kind: string;
  readonly is_new: boolean;
  readonly entry: bigint;
};

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

/** Why nothing was credited: there is no such workspace, or its credits would leave their range. */
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
