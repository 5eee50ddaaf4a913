/** How far a workspace may spend beyond its credits, for those that are not prepaid. docs/ledger.md. */
import { invalidValue } from "../base/errors.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";

/** An amount from 0 up; null: without limit, only caps stop its calls. */
export type CreditLine = NanoUsd | null;

/** Far above any bill, and far below what the ledger's numbers can hold beside it. */
const lineMax = 1_000_000_000n * 1_000_000_000n;

/** On the wire, in the command line and in exports: a decimal string, or this. */
export const unlimited = "unlimited";

/** @throws GatewayError `invalid_value`, naming `credit_line` */
export function parseCreditLine(text: string): CreditLine {
  if (text === unlimited) return null;
  let amount: NanoUsd;
  try {
    amount = parseUsd(text);
  } catch {
    throw invalidValue(
      "credit_line",
      `must be a decimal amount in USD such as "500.00", or "unlimited"`,
    );
  }
  if (amount >= 0n && amount <= lineMax) return amount;
  throw invalidValue("credit_line", `must be from 0 to ${formatUsd(lineMax)}, or "unlimited"`);
}

export const renderCreditLine = (line: CreditLine): string =>
  line === null ? unlimited : formatUsd(line);
