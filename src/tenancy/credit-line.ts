/** How far a workspace may spend beyond its credits, if it is not prepaid. docs/ledger.md. */
import { invalidValue } from "../base/errors.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";
import type { Queryable } from "../storage/index.ts";

/** An amount of 0 or more. null: unlimited; only caps stop its calls. */
export type CreditLine = NanoUsd | null;

/** Far above any bill, and far below the range of the ledger's numbers. */
export const lineNanoMax = 1_000_000_000n * 1_000_000_000n;

/** The text for no limit on the wire, on the command line and in exports. */
export const unlimited = "unlimited";

/**
 * Parses text whose format was already checked: an amount of 0 or more, or `unlimited`. @throws GatewayError `invalid_value`, naming
 * `credit_line`
 */
export function parseCreditLine(text: string): CreditLine {
  if (text === unlimited) return null;
  const amount = parseUsd(text);
  if (amount <= lineNanoMax) return amount;
  throw invalidValue("credit_line", `must be from 0 to ${formatUsd(lineNanoMax)}, or "unlimited"`);
}

export const renderCreditLine = (line: CreditLine): string =>
  line === null ? unlimited : formatUsd(line);

/**
 * Parses the balance at which a workspace is warned, from text whose format was already checked; null: never.
 * @throws GatewayError `invalid_value`, naming `low_balance_alert`
 */
export function parseLowBalance(text: string | null): NanoUsd | null {
  const amount = text === null ? null : parseUsd(text);
  if (amount === null || amount <= lineNanoMax) return amount;
  throw invalidValue("low_balance_alert", `must be from 0 to ${formatUsd(lineNanoMax)}, or null`);
}

export const renderLowBalance = (amount: NanoUsd | null): string | null =>
  amount === null ? null : formatUsd(amount);

/**
 * Call after a credit, in its transaction. If the balance is above the alert amount again, the next drop below it warns anew.
 * Periodic checks alone would miss a rise and fall between two of them.
 */
export const forgetLowBalance = async (tx: Queryable, workspaceId: string): Promise<void> =>
  void (await tx.query(
    `delete from low_balances t using workspaces w, ledger_accounts a
     where t.workspace_id = $1 and w.id = t.workspace_id and a.workspace_id = t.workspace_id
       and a.credits_nano + w.credit_line_nano - a.charged_nano > t.amount_nano`,
    [workspaceId],
  ));
