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
  const made = await bootstrap({ database, secrets, clock }, async (tx, workspaceId) => {
    if (creditNano === 0n) return;
    const reference = `first-start:${workspaceId}`;
    const note = "credit of the first start";
    await creditIn(tx, { workspaceId, amountNano: creditNano, reference, note });
  });
  if (!made) return undefined;
  return {
    adminEmail: made.email,
    adminPassword: made.oneTimePassword,
    apiKey: made.key,
    credit: formatUsd(creditNano),
  };
}
