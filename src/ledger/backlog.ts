/**
 * The keys of a lane, which of them have something to send, and how much of it goes into the next batch. The lane decides when to send, and
 * applies the answer. docs/ledger.md "Batches".
 */
import { getOrCreate } from "../base/memoize.ts";
import type { Target } from "./batch.ts";
import { drawOf, KeyUse, type Waiting } from "./key-use.ts";
import type { KeyName } from "./types.ts";

const batchMax = 500;
/** One batch takes all if fewer items wait. */
const splitMin = 16;
/** With more keys, a batch costs so much per key and so little per call that a half batch does not pay. */
const splitKeysMax = 4;

export class Backlog {
  private readonly sharesCore: boolean;
  /** Keys in use, by workspace, key and rotation. */
  readonly keys = new Map<string, KeyUse>();
  /** Keys that have something to send, or were sent and not answered. A served key moves to the end. */
  private readonly dirty = new Set<KeyUse>();

  constructor(sharesCore = false) {
    this.sharesCore = sharesCore;
  }

  /** True if no key has anything to send. */
  get isEmpty(): boolean {
    return this.dirty.size === 0;
  }

  /** Returns the key that a call spends from. */
  keyOf({ workspaceId, keyId, keyRotation }: KeyName): KeyUse {
    const name = `${workspaceId} ${keyId} ${keyRotation}`;
    return getOrCreate(this.keys, name, () => new KeyUse({ workspaceId, keyId, keyRotation }));
  }

  /** Marks a key that has something to send. */
  touch(key: KeyUse): void {
    this.dirty.add(key);
  }

  /** Unmarks an answered key, or moves it behind the others if it has more to send. */
  requeue(key: KeyUse, nowMs: number): void {
    this.dirty.delete(key);
    const isAsking = key.waiting.length > 0 && !key.waitsForHeadroom;
    if (isAsking || key.ended.length > 0 || key.hasIdle(nowMs)) this.dirty.add(key);
  }

  /** Marks keys with headroom to give back, waiting calls or unwritten entries; forgets unused keys. */
  tidy(nowMs: number): void {
    for (const [name, key] of this.keys) {
      if (key.hasPending || key.hasIdle(nowMs)) this.dirty.add(key);
      else if (key.isUnused(nowMs) && !this.dirty.has(key)) this.keys.delete(name);
    }
  }

  /** Takes over the keys of a workspace from another lane, with their unsent items. Until these are answered no call begins in memory. */
  adopt(workspaceId: string, from: Backlog, nowMs: number): void {
    for (const [name, key] of from.keys) {
      if (key.name.workspaceId !== workspaceId) continue;
      from.keys.delete(name);
      from.dirty.delete(key);
      this.keys.set(name, key);
      this.dirty.add(key);
      key.changedAt = nowMs;
    }
  }

  /**
   * Returns what the calls of all keys use, for a lane that is new or lapsed. The database takes back what is set aside beyond that.
   * Entries are included: one that was written without our knowledge has drawn already, and would be set aside a second time. `withoutEntries` leaves
   * entries out, because the database refuses one of them, which must be found first.
   */
  restored(nowMs: number, withoutEntries = false): Target[] {
    const targets: Target[] = [];
    let entriesMax = withoutEntries ? 0 : batchMax;
    for (const key of this.keys.values()) {
      if (key.granted + key.inUse + key.pending === 0n) continue;
      const entries = key.ended.slice(0, entriesMax);
      entriesMax -= entries.length;
      targets.push(targetWithAllowance(key, nowMs, { entries, asked: [] }));
    }
    return targets;
  }

  /** Returns the targets of the next batch, and lowers `granted` of their keys for the meantime. `isSingle`: one entry or call of one key. */
  nextTargets(nowMs: number, isSingle: boolean): Target[] {
    const targets: Target[] = [];
    const size = isSingle ? 1 : this.batchSize();
    let [entriesMax, askedMax] = [size, size];
    for (const key of this.dirty) {
      const entries = key.ended.slice(0, entriesMax);
      const asked = callsToAsk(key, isSingle ? 1 - entries.length : askedMax);
      // This batch is full: the key's turn comes later.
      if (entries.length + asked.length === 0 && key.hasPending) continue;
      targets.push(targetOf(key, nowMs, { entries, asked }));
      if (isSingle) break;
      entriesMax -= entries.length;
      askedMax -= asked.length;
    }
    return targets;
  }

  /**
   * Returns the most entries and calls of a batch: with few keys, half of what waits. If a batch took all, all calls would go on together
   * and meet in the next one; gateway and server would idle in turns. With one core for both they do so anyhow.
   */
  private batchSize(): number {
    if (this.sharesCore || this.dirty.size > splitKeysMax) return batchMax;
    let waiting = 0;
    for (const key of this.dirty) waiting += key.waiting.length + key.ended.length;
    return Math.min(batchMax, Math.max(splitMin, Math.ceil(waiting / 2)));
  }
}

/** Returns the first `max` waiting calls that fit into the known room. If none fits, returns the first `max`: the database refuses them. */
function callsToAsk({ waiting, room, free }: KeyUse, max: number): Waiting[] {
  let rest = (room ?? 0n) + free;
  const fitting = waiting.filter(({ bound }) => {
    const fits = room === undefined || bound <= rest;
    if (fits) rest -= bound;
    return fits;
  });
  return (fitting.length > 0 ? fitting : waiting).slice(0, max);
}

/** The entries and waiting calls of a key that go into a batch. */
type PendingItems = Pick<Target, "entries" | "asked">;

/** Returns the target of a key with these entries and waiting calls. Sets no allowance if only entries are due. */
function targetOf(key: KeyUse, nowMs: number, items: PendingItems): Target {
  const isEntry = items.entries.length > 0 && items.asked.length === 0;
  if (isEntry && !key.hasIdle(nowMs) && !key.isStale(nowMs))
    return { key, ...items, need: null, use: 0n, keep: 0n, headroom: 0n };
  return targetWithAllowance(key, nowMs, items);
}

/** Returns the same, and sets the key's allowance. */
function targetWithAllowance(key: KeyUse, nowMs: number, { entries, asked }: PendingItems): Target {
  // The draw of entries that are not in this batch must stay set aside.
  const use = entries.reduce((rest, call) => rest - drawOf(call), key.inUse + key.pending);
  const need = asked.reduce((total, { bound }) => total + bound, use);
  const wantedHeadroom = key.wantedHeadroom(nowMs);
  const keep = key.keep(wantedHeadroom);
  // Each batch asks whether there is room for `keep`: one nano-dollar of headroom is enough for that.
  const headroom = keep > 0n && keep === wantedHeadroom ? 1n : wantedHeadroom - keep;
  return { key, entries, asked, need, use: use + keep, keep, headroom };
}
