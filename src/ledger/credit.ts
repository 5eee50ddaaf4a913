/** Credit and the credit line of a workspace. */
import type { SnakeCased } from "../base/casing.ts";
import { GatewayError } from "../base/errors.ts";
import { formatUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";
import { checkAmount } from "./amounts.ts";
import { entryId, readBalance } from "./balance.ts";
import type { CreditInput, CreditResult } from "./types.ts";

type CreditRow = SnakeCased<Omit<CreditResult, "outcome" | "entryId">> & {
  readonly kind: string;
  readonly is_new: boolean;
  readonly entry: bigint;
};

/** Adds credit, or takes it back, within `tx`; once per reference. @throws GatewayError not_found, conflict */
export async function creditIn(tx: Queryable, input: CreditInput): Promise<CreditResult> {
  checkAmount(input.amountNano < 0n ? -input.amountNano : input.amountNano);
  const [row] = await tx.query<CreditRow>("select * from ledger_credit($1, $2, $3, $4)", [
    input.workspaceId,
    input.amountNano,
    input.reference,
    input.note ?? null,
  ]);
  if (row === undefined) throw await refusal(tx, input);
  if (row.kind !== "credit")
    throw new GatewayError("conflict", "The reference belongs to another ledger entry.");
  return {
    outcome: row.is_new ? "credited" : "already_credited",
    entryId: entryId(row.entry),
    amountNano: row.amount_nano,
    balanceAfterNano: row.balance_after_nano,
    createdAt: row.created_at,
  };
}

/** Nothing was credited: there is no such workspace, or less was ever credited than is to be taken back. */
async function refusal(tx: Queryable, input: CreditInput): Promise<GatewayError> {
  const { creditsNano } = await readBalance(tx, input.workspaceId);
  const [asked, credits] = [formatUsd(-input.amountNano), formatUsd(creditsNano)];
  return new GatewayError(
    "conflict",
    `$${asked} cannot be taken back: the workspace was credited $${credits} in all.`,
  );
}
