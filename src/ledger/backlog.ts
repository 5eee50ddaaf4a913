/**
 * The keys of a lane, which of them have something to send, and how much of it goes into the next batch. When that is sent, and what
 * its answer means, is for the lane. docs/ledger.md "Batches".
 */
import { getOrMake } from "../base/made-once.ts";
import type { Target } from "./batch.ts";
import { drawOf, KeyUse, type Waiting } from "./key-use.ts";
import type { KeyName } from "./types.ts";

const batchMax = 500;
/** Where fewer wait, one batch takes them all. */
const splitMin = 16;
/** With more keys a batch costs so much more by the key than by the call that half of the calls do not pay. */
const splitKeysMax = 4;

export class Backlog {
  private readonly sharesCore: boolean;
  /** Those in use, by workspace, key and rotation. */
  readonly keys = new Map<string, KeyUse>();
  /** Those that have something to send, or were sent and not answered. Who was served goes behind those who were not. */
  private readonly dirty = new Set<KeyUse>();

  constructor(sharesCore = false) {
    this.sharesCore = sharesCore;
  }

  /** No key has anything to send. */
  get isEmpty(): boolean {
    return this.dirty.size === 0;
  }

  /** The key that a call spends from. */
  keyOf({ workspaceId, keyId, keyRotation }: KeyName): KeyUse {
    const name = `${workspaceId} ${keyId} ${keyRotation}`;
    return getOrMake(this.keys, name, () => new KeyUse({ workspaceId, keyId, keyRotation }));
  }

  /** A key has something to send. */
  touch(key: KeyUse): void {
    this.dirty.add(key);
  }

  /** A key was served, and goes behind the others where it has more. */
  follow(key: KeyUse, nowMs: number): void {
    this.dirty.delete(key);
    const isAsking = key.waiting.length > 0 && !key.patient;
    if (isAsking || key.ended.length > 0 || key.hasIdle(nowMs)) this.dirty.add(key);
  }

  /** Headroom that nobody used for a while is to go back, calls that still wait are asked for; keys that have nothing are forgotten. */
  tidy(nowMs: number): void {
    for (const [name, key] of this.keys) {
      if (key.hasNews || key.hasIdle(nowMs)) this.dirty.add(key);
      else if (key.isUnused(nowMs) && !this.dirty.has(key)) this.keys.delete(name);
    }
  }

  /** Takes the keys of a workspace over from another lane, with what they have to send. Until that is answered nothing more begins. */
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
   * What the calls of all keys use: of a lane that is new, or lapsed. What another one set aside beyond goes back. Their entries go along:
   * one that was written without our knowing has drawn already, and what it drew would be set aside a second time. `bare`: not now,
   * because the database refuses one of them, which is to be found first.
   */
  restored(nowMs: number, bare = false): Target[] {
    const targets: Target[] = [];
    let entriesMax = bare ? 0 : batchMax;
    for (const key of this.keys.values()) {
      if (key.granted + key.inUse + key.pending === 0n) continue;
      const entries = key.ended.slice(0, entriesMax);
      entriesMax -= entries.length;
      targets.push(settingOf(key, nowMs, { entries, asked: [] }));
    }
    return targets;
  }

  /** What goes into the next batch; what keys keep meanwhile is lowered. `alone`: one entry or call of one key. */
  take(nowMs: number, alone: boolean): Target[] {
    const targets: Target[] = [];
    const size = alone ? 1 : this.batchSize();
    let [entriesMax, askedMax] = [size, size];
    for (const key of this.dirty) {
      const entries = key.ended.slice(0, entriesMax);
      const asked = askedOf(key, alone ? 1 - entries.length : askedMax);
      // Its turn comes later.
      if (entries.length + asked.length === 0 && key.hasNews) continue;
      targets.push(targetOf(key, nowMs, { entries, asked }));
      if (alone) break;
      entriesMax -= entries.length;
      askedMax -= asked.length;
    }
    return targets;
  }

  /**
   * How much a batch takes. On few keys at most half of what waits: where all of it did, all would go on together and meet again in the
   * next batch, and the gateway would idle while the server works, and the other way round. On one core that is so anyhow.
   */
  private batchSize(): number {
    if (this.sharesCore || this.dirty.size > splitKeysMax) return batchMax;
    let waiting = 0;
    for (const key of this.dirty) waiting += key.waiting.length + key.ended.length;
    return Math.min(batchMax, Math.max(splitMin, Math.ceil(waiting / 2)));
  }
}

/** Of those who wait for a key, the first `max` that fit into the known room; where none does, the first: the database refuses them. */
function askedOf({ waiting, room, free }: KeyUse, max: number): Waiting[] {
  let rest = (room ?? 0n) + free;
  const fitting = waiting.filter(({ bound }) => {
    const fits = room === undefined || bound <= rest;
    if (fits) rest -= bound;
    return fits;
  });
  return (fitting.length > 0 ? fitting : waiting).slice(0, max);
}

/** Those of a key that go into a batch. */
type News = Pick<Target, "entries" | "asked">;

/** What a key is sent, with these of its entries and waiting calls. */
function targetOf(key: KeyUse, nowMs: number, news: News): Target {
  const isEntry = news.entries.length > 0 && news.asked.length === 0;
  if (isEntry && !key.hasIdle(nowMs) && !key.isStale(nowMs))
    return { key, ...news, need: null, use: 0n, keep: 0n, headroom: 0n };
  return settingOf(key, nowMs, news);
}

/** The same, where its allowance is to be set. */
function settingOf(key: KeyUse, nowMs: number, { entries, asked }: News): Target {
  // What entries that stay behind will draw must stay set aside.
  const use = entries.reduce((rest, call) => rest - drawOf(call), key.inUse + key.pending);
  const need = asked.reduce((total, { bound }) => total + bound, use);
  const wanted = key.wanted(nowMs);
  const keep = key.keep(wanted);
  // Whether there is room for what is kept is asked each time: a nano-dollar more is enough for that.
  const headroom = keep > 0n && keep === wanted ? 1n : wanted - keep;
  return { key, entries, asked, need, use: use + keep, keep, headroom };
}
