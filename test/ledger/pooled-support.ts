/** What the tests of pooled holds share: a workspace with two keys, calls on them, and what is left of them. */
import { expect } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createLedger, verifyLedger, type Ledger } from "../../src/ledger/index.ts";
import type { Database } from "../../src/storage/index.ts";
import { addKey, addWorkspace } from "./support.ts";

export const leaseMs = 60_000;
export const workspaceId = "w";
export const call = (id: string, amountNano: bigint, keyId = "k") => ({
  id,
  workspaceId,
  keyId,
  amountNano,
  leaseMs,
  kind: "text" as const,
  pooled: true,
});
export const post = (id: string, amountNano: bigint) => ({ id, workspaceId, amountNano });
export const name = (id: string) => ({ id, workspaceId });

export async function setUp(database: Database, creditNano = 1_000n): Promise<void> {
  await addWorkspace(database, workspaceId);
  for (const id of ["k", "l"]) await addKey(database, { workspaceId, id, createdBy: "m" });
  const ledger = createLedger(database, systemClock);
  await ledger.credit({ workspaceId, amountNano: creditNano, reference: "start" });
}

interface HoldRow {
  readonly id: string;
  readonly key_id: string;
  readonly member_id: string;
  readonly amount_nano: bigint;
  readonly calls: number;
}

export const holdsOf = (database: Database) =>
  database.query<HoldRow>(
    "select id, key_id, member_id, amount_nano, calls from ledger_holds order by amount_nano",
  );

export const entriesOf = async (ledger: Ledger) =>
  (await ledger.entries(workspaceId)).entries
    .filter((entry) => entry.kind !== "credit")
    .map((entry) => `${entry.kind} ${entry.reference} ${entry.amountNano} of ${entry.heldNano}`)
    .toSorted();

export async function expectEven(database: Database): Promise<void> {
  expect(await verifyLedger(database)).toEqual([]);
  expect(await holdsOf(database)).toEqual([]);
}
