/** How far a workspace may spend beyond its credits, for those that are not prepaid. docs/ledger.md. */
import { invalidValue } from "../base/errors.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";

/** An amount from 0 up; null: without limit, only caps stop its calls. */
export type CreditLine = NanoUsd | null;

/** Far above any bill, and far below what the ledger's numbers can hold beside it. */
export const lineNanoMax = 1_000_000_000n * 1_000_000_000n;

/** On the wire, in the command line and in exports: a decimal string, or this. */
export const unlimited = "unlimited";

/** Of a text whose form was checked: an amount from 0 up, or `unlimited`. @throws GatewayError `invalid_value`, naming `credit_line` */
export function parseCreditLine(text: string): CreditLine {
  if (text === unlimited) return null;
  const amount = parseUsd(text);
  if (amount <= lineNanoMax) return amount;
  throw invalidValue("credit_line", `must be from 0 to ${formatUsd(lineNanoMax)}, or "unlimited"`);
}

export const renderCreditLine = (line: CreditLine): string =>
  line === null ? unlimited : formatUsd(line);

/**
 * Of a text whose form was checked: at which balance a workspace is warned; null: never. @throws GatewayError `invalid_value`, naming
 * `low_balance_alert`
 */
export function parseLowBalance(text: string | null): NanoUsd | null {
  const amount = text === null ? null : parseUsd(text);
  if (amount === null || amount <= lineNanoMax) return amount;
  throw invalidValue("low_balance_alert", `must be from 0 to ${formatUsd(lineNanoMax)}, or null`);
}

export const renderLowBalance = (amount: NanoUsd | null): string | null =>
  amount === null ? null : formatUsd(amount);

/**
 * After a credit, in its transaction: a workspace whose balance is above its amount again is warned anew, however soon it is below it.
 * Looks alone would miss what comes and goes between two of them.
 */
export const forgetLowBalance = async (tx: Queryable, workspaceId: string): Promise<void> =>
  void (await tx.query(
    `delete from low_balances t using workspaces w, ledger_accounts a
     where t.workspace_id = $1 and w.id = t.workspace_id and a.workspace_id = t.workspace_id
       and a.credits_nano + w.credit_line_nano - a.charged_nano > t.amount_nano`,
    [workspaceId],
  ));
