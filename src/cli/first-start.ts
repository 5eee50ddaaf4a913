/** What the very first start makes: an organization, a workspace, its administrator, a key, and credit for the sandbox. */
import type { Clock } from "../base/clock.ts";
import { formatUsd, parseUsd } from "../base/money.ts";
import type { Ledger } from "../ledger/index.ts";
import type { Database } from "../storage/index.ts";
import { bootstrap, type Secrets } from "../tenancy/index.ts";

/** Shown once, never again. */
export interface FirstStart {
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly apiKey: string;
  /** Decimal USD; absent where there is no sandbox to spend it on. */
  readonly credit: string | undefined;
}

const sandboxCreditNano = parseUsd("100");

interface FirstStartOptions {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly withCredit: boolean;
}

/** Makes what is missing; undefined on every later start. Safe when several processes start together. */
export async function firstStart(options: FirstStartOptions): Promise<FirstStart | undefined> {
  const { database, secrets, ledger, clock, withCredit } = options;
  const made = await bootstrap({ database, secrets, clock });
  if (!made) return undefined;
  if (withCredit) {
    // Its own reference, so that a start that was killed half-way and one beside it credit once.
    await ledger.credit({
      workspaceId: made.workspaceId,
      amountNano: sandboxCreditNano,
      reference: `first-start:${made.workspaceId}`,
      note: "credit for the sandbox",
    });
  }
  return {
    adminEmail: made.email,
    adminPassword: made.oneTimePassword,
    apiKey: made.key,
    credit: withCredit ? formatUsd(sandboxCreditNano) : undefined,
  };
}
