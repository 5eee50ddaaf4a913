/** How far a workspace may spend beyond its credits, for those that are not prepaid. docs/ledger.md. */
import { invalidValue } from "../base/errors.ts";
import { formatUsd, parseUsd, type NanoUsd } from "../base/money.ts";

/** An amount from 0 up; null: without limit, only caps stop its calls. */
export type CreditLine = NanoUsd | null;

/** Far above any bill, and far below what the ledger's numbers can hold beside it. */
const lineMax = 1_000_000_000n * 1_000_000_000n;

/** On the wire, in the command line and in exports: a decimal string, or this. */
export const unlimited = "unlimited";

/** Of a text whose form was checked: an amount from 0 up, or `unlimited`. @throws GatewayError `invalid_value`, naming `credit_line` */
export function parseCreditLine(text: string): CreditLine {
  if (text === unlimited) return null;
  const amount = parseUsd(text);
  if (amount <= lineMax) return amount;
  throw invalidValue("credit_line", `must be from 0 to ${formatUsd(lineMax)}, or "unlimited"`);
}

export const renderCreditLine = (line: CreditLine): string =>
  line === null ? unlimited : formatUsd(line);
