/** The very first start: creates an organization, a workspace, its administrator, a key, and credit for the first calls. */
import type { Clock } from "../base/clock.ts";
import { formatUsd, type NanoUsd } from "../base/money.ts";
import { creditIn } from "../ledger/index.ts";
import type { Database } from "../storage/index.ts";
import { bootstrap, type Secrets } from "../tenancy/index.ts";

/** Results that are shown only once. */
export interface FirstStart {
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly apiKey: string;
  /** Decimal USD; may be "0". */
  readonly credit: string;
}

interface FirstStartOptions {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Credit of the first workspace; may be 0. */
  readonly creditNano: NanoUsd;
}

/** Creates what is missing; undefined on every later start. Safe when several processes start together. */
export async function firstStart(options: FirstStartOptions): Promise<FirstStart | undefined> {
  const { database, secrets, clock, creditNano } = options;
  const made = await bootstrap({ database, secrets, clock });
  if (!made) return undefined;
  if (creditNano > 0n) {
    // A fixed reference: after a killed start, or with another start in parallel, the credit is still added only once.
    await creditIn(database, {
      workspaceId: made.workspaceId,
      amountNano: creditNano,
      reference: `first-start:${made.workspaceId}`,
      note: "credit of the first start",
    });
  }
  return {
    adminEmail: made.email,
    adminPassword: made.oneTimePassword,
    apiKey: made.key,
    credit: formatUsd(creditNano),
  };
}
