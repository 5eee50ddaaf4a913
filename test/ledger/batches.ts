/** Builds parts of a lane's batches for tests: entries, targets, answer rows and the next batch of a backlog. */
import { Backlog } from "../../src/ledger/backlog.ts";
import type { Batch, BatchRow, Target } from "../../src/ledger/batch.ts";
import type { Ended, KeyUse } from "../../src/ledger/key-use.ts";
import type { Answer } from "../../src/ledger/refusal.ts";

export const entryOf = (id: string, more: Partial<Ended> = {}): Ended => ({
  id,
  charge: 1n,
  bound: 1n,
  since: 0,
  resolve: () => undefined,
  reject: () => undefined,
  ...more,
});

/** The target of a key that only asks for `need`. */
export const targetOf = (key: KeyUse, need: bigint, more: Partial<Target> = {}): Target => ({
  key,
  entries: [],
  asked: [],
  need,
  use: 0n,
  keep: 0n,
  headroom: 0n,
  ...more,
});

export const entriesIn = ({ targets }: Pick<Batch, "targets">): readonly Ended[] =>
  targets.flatMap(({ entries }) => entries);

export const askedIn = ({ targets }: Pick<Batch, "targets">): number =>
  targets.reduce((sum, { asked }) => sum + asked.length, 0);

/** A key's row of an answer: refuses its calls with `answer`, or admits them if it is null. */
export const rowOf = (answer: Answer | null): BatchRow => ({
  place: 1,
  allowance: 0n,
  ...(answer ?? { refusal: null, at: null }),
});

/** A backlog of these keys, all marked as having something to send. */
export function backlogOf(keys: readonly KeyUse[]): Backlog {
  const backlog = new Backlog();
  for (const key of keys) {
    const { workspaceId, keyId, keyRotation } = key.name;
    backlog.keys.set(`${workspaceId} ${keyId} ${keyRotation}`, key);
    backlog.touch(key);
  }
  return backlog;
}

/** The targets of the next batch of these keys. */
export const next = (keys: readonly KeyUse[], nowMs = 0): Pick<Batch, "targets"> => ({
  targets: backlogOf(keys).nextTargets(nowMs, false),
});
