/**
 * The keys of a lane, which of them have something to send, and how much of it goes into the next batch. When that is sent, and what
 * its answer means, is for the lane. docs/ledger.md "Batches".
 */
import type { Batch, Target } from "./batch.ts";
import { drawOf, KeyUse, type Waiting } from "./key-use.ts";
import { anyRotation, type KeyName } from "./types.ts";

const batchMax = 500;
/** Where fewer wait, one batch takes them all. */
const splitMin = 16;
/** With more keys a batch costs so much more by the key than by the call that half of the calls do not pay. */
const splitKeysMax = 4;
/** Above all amounts. */
const unlimited = 2n ** 62n;

/** How a batch is collected. */
interface Collecting extends Pick<Batch, "restore"> {
  readonly nowMs: number;
  /** One key, and one entry or call of it, only; of a batch that restores, which must name all keys, no entry. */
  readonly alone: boolean;
}

export class Backlog {
  /** By workspace, key and rotation. */
  readonly keys = new Map<string, KeyUse>();
  /** Those that have something to send. Who was served goes behind those who were not. */
  private readonly dirty = new Set<KeyUse>();
  /** Those that may have headroom, which goes back when nobody used it for a while. */
  private readonly lingering = new Set<KeyUse>();

  /** No key has anything to send. */
  get isEmpty(): boolean {
    return this.dirty.size === 0;
  }

  get hasHeadroom(): boolean {
    return this.lingering.size > 0;
  }

  /** The key that a call spends from. */
  keyOf({ workspaceId, keyId, keyRotation = anyRotation }: KeyName): KeyUse {
    const name = `${workspaceId} ${keyId} ${keyRotation}`;
    let key = this.keys.get(name);
    if (key === undefined) {
      key = new KeyUse(workspaceId, keyId, keyRotation);
      this.keys.set(name, key);
    }
    return key;
  }

  /** A key has something to send. */
  touch(key: KeyUse): void {
    this.dirty.add(key);
  }

  /** A key was answered: some of its calls may still wait, and headroom be left. */
  follow(key: KeyUse): void {
    if (key.waiting.length > 0) this.dirty.add(key);
    if (key.free > 0n) this.lingering.add(key);
  }

  /** Headroom that nobody used for a while is to go back. */
  touchIdle(nowMs: number): void {
    for (const key of this.lingering) {
      if (key.hasIdle(nowMs)) this.dirty.add(key);
      else if (key.free <= 0n) this.lingering.delete(key);
    }
  }

  /** Takes over what another lane gave. A lane that is new sends what they use now: nothing may begin before it has. */
  adopt(keys: readonly (readonly [name: string, key: KeyUse])[]): void {
    for (const [name, key] of keys) {
      this.keys.set(name, key);
      this.dirty.add(key);
      this.lingering.add(key);
      key.distrust();
    }
  }

  /** Gives away the keys of a workspace, with what they have to send, by their names. */
  release(workspaceId: string): (readonly [name: string, key: KeyUse])[] {
    const released = [...this.keys].filter(([, key]) => key.workspaceId === workspaceId);
    for (const [name, key] of released) {
      this.keys.delete(name);
      this.dirty.delete(key);
      this.lingering.delete(key);
    }
    return released;
  }

  /** Forgets the keys that nobody uses. */
  forget(nowMs: number): void {
    for (const [name, key] of this.keys)
      if (key.isForgotten(nowMs) && !this.dirty.has(key)) this.keys.delete(name);
  }

  /** Takes out what goes into the next batch; what keys keep meanwhile is lowered. A batch that restores leaves all news here. */
  take(how: Collecting): Target[] {
    const { restore, alone } = how;
    const candidates = restore ? [...this.keys.values()] : [...this.dirty];
    const size = alone ? (restore ? 0 : 1) : batchSize(candidates);
    const targets: Target[] = [];
    let [entriesMax, askedMax] = [size, size];
    for (const key of candidates) {
      const target = targetOf(key, { ...how, entriesMax, askedMax });
      const isSent = target.entries.length > 0 || target.need !== null;
      const isLeft = key.ended.length > 0 || target.asked < key.waiting.length;
      if (isSent) targets.push(target);
      if (!restore && (isSent || !isLeft)) this.dirty.delete(key);
      if (isLeft) this.dirty.add(key);
      if (isSent && alone && !restore) break;
      entriesMax -= target.entries.length;
      askedMax -= target.asked;
    }
    return targets;
  }

  /** What was not done, or is not known to be, is to be sent again, as things are then. */
  putBack(targets: readonly Target[]): void {
    for (const { key, entries } of targets) {
      key.ended.unshift(...entries);
      key.unsure = true;
      this.dirty.add(key);
    }
  }

  /** How long until keys may be asked for again whose calls wait for what others do not use; undefined where there are none. */
  retryInMs(nowMs: number): number | undefined {
    const waiting = [...this.dirty].filter((key) => key.waiting.length > 0);
    if (waiting.length === 0) return undefined;
    return Math.max(1, Math.min(...waiting.map((key) => key.retryAt)) - nowMs);
  }
}

/**
 * How much a batch takes. On few keys at most half of what waits: where all of it did, all would go on together and meet again in the
 * next batch, and the gateway would idle while the server works, and the other way round.
 */
function batchSize(keys: readonly KeyUse[]): number {
  if (keys.length > splitKeysMax) return batchMax;
  const waiting = keys.reduce((sum, key) => sum + key.waiting.length + key.ended.length, 0);
  return Math.min(batchMax, Math.max(splitMin, Math.ceil(waiting / 2)));
}

/** What a key is sent, `entriesMax` entries and `askedMax` of its waiting calls at most. */
function targetOf(
  key: KeyUse,
  how: Collecting & { readonly entriesMax: number; readonly askedMax: number },
): Target {
  const { nowMs, restore, alone, entriesMax, askedMax } = how;
  const entries = key.ended.splice(0, entriesMax);
  const isEntered = entries.length > 0;
  const asksNone = restore || key.retryAt > nowMs || (alone && isEntered);
  const { asked, sum } = ask(key, asksNone ? 0 : askedMax);
  const isDue = restore
    ? isEntered || key.inUse + key.pending > 0n
    : asked > 0 || key.unsure || key.hasIdle(nowMs) || (isEntered && key.isStale(nowMs));
  const sent = { key, epoch: key.epoch, entries, asked };
  if (!isDue) return { ...sent, need: null, use: 0n, keep: 0n, headroom: 0n };
  // What entries that stay behind will draw must stay set aside.
  const use = key.ended.reduce((total, call) => total + drawOf(call), key.inUse);
  const wanted = restore ? 0n : key.wanted(nowMs);
  const keep = key.keep(wanted);
  // Whether there is room for what is kept is asked each time: a nano-dollar more is enough for that.
  const headroom = keep > 0n && keep === wanted ? 1n : wanted - keep;
  return { ...sent, need: use + sum, use: use + keep, keep, headroom };
}

/** Of those who wait for a key, the first `max` that fit into the known room; where none does, the first: the database refuses them. */
function ask({ waiting, room, free }: KeyUse, max: number): { asked: number; sum: bigint } {
  const fitting = sumUp(waiting, max, room === undefined ? unlimited : room + free);
  return fitting.asked > 0 ? fitting : sumUp(waiting, max, unlimited);
}

function sumUp(waiting: readonly Waiting[], max: number, room: bigint) {
  let [asked, sum] = [0, 0n];
  for (const { bound } of waiting) {
    if (asked >= max) break;
    if (sum + bound > room) continue;
    sum += bound;
    asked += 1;
  }
  return { asked, sum };
}
