/** What goes into a lane's next batch: entries in their order, and for each key that has something to send its target. */
import type { BatchEntry, BatchKey } from "./batch.ts";
import type { KeyUse } from "./key-use.ts";

/** An entry that is not known to be written. */
export interface OpenEntry extends Omit<BatchEntry, "place"> {
  readonly key: KeyUse;
  /** What it takes out of the allowance. */
  readonly draw: bigint;
  /** When it came, by the monotonic clock. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface Item extends BatchKey {
  readonly key: KeyUse;
  /** What was known of changes when it was collected. */
  readonly epoch: number;
}

export interface Collected {
  readonly nowMs: number;
  readonly items: readonly Item[];
  readonly entries: readonly BatchEntry[];
  /** The same, as their calls wait for them. */
  readonly open: readonly OpenEntry[];
  /** How many waiting calls are asked for. */
  readonly asked: number;
  /** Keys that have more to send than this batch takes. */
  readonly later: Set<KeyUse>;
}

export interface Collecting {
  readonly nowMs: number;
  /** Those that may have something to send; all of the lane where it must restore. */
  readonly keys: Iterable<KeyUse>;
  readonly entries: readonly OpenEntry[];
  /** All keys say what their running calls use. */
  readonly restore: boolean;
  /** One key, and one entry or call of it, only. */
  readonly careful: boolean;
}

const batchMax = 500;
/** Where fewer wait, one batch takes them all. */
const splitMin = 16;
/** With more keys a batch costs so much more by the key than by the call that half of the calls do not pay. */
const splitKeysMax = 4;

/**
 * How much a batch takes. On few keys at most half of what waits: where all of it did, all would go on together and meet again in the
 * next batch, and the gateway would idle while the server works, and the other way round.
 */
function batchSize(keys: readonly KeyUse[], entries: number): number {
  if (keys.length > splitKeysMax) return batchMax;
  const waiting = keys.reduce((sum, key) => sum + key.waiting.length, entries);
  return Math.min(batchMax, Math.max(splitMin, Math.ceil(waiting / 2)));
}

/** Where one thing alone may go, a restoring batch, which must name all keys, takes no entry. */
const carefulSize = (restore: boolean): number => (restore ? 0 : 1);

/** Of those who wait for a key, the first ones, as far as `max` and the known room go: how many, and their bounds. */
function ask(key: KeyUse, max: number, nowMs: number): { count: number; sum: bigint } {
  if (key.retryAt > nowMs) return { count: 0, sum: 0n };
  const room = key.room === undefined ? undefined : key.room + key.free;
  const fitting = sumUp(key, max, room);
  return fitting.count > 0 || room === undefined ? fitting : sumUp(key, max, undefined);
}

function sumUp(key: KeyUse, max: number, room: bigint | undefined): { count: number; sum: bigint } {
  let count = 0;
  let sum = 0n;
  for (const { bound } of key.waiting) {
    if (count >= max) break;
    if (room !== undefined && sum + bound > room) continue;
    sum += bound;
    count += 1;
  }
  return { count, sum };
}

/** The entries that stay behind, by key: what they draw must stay set aside. */
function drawsOf(entries: readonly OpenEntry[]): Map<KeyUse, bigint> {
  const draws = new Map<KeyUse, bigint>();
  for (const { key, draw } of entries) draws.set(key, (draws.get(key) ?? 0n) + draw);
  return draws;
}

/** What a key is sent, without a need where it has nothing to send; `count` waiting calls are in it. */
interface Target extends Omit<BatchKey, "key"> {
  readonly count: number;
}

const nothing: Target = { need: null, use: 0n, keep: 0n, headroom: 0n, count: 0 };

/** What of a key is sent anyway: the draws of its entries that stay behind, and whether the batch has one of its entries. */
interface Sent {
  readonly behind: bigint;
  readonly isEntered: boolean;
}

/** What a key's running calls use. */
function used(key: KeyUse, { behind, isEntered }: Sent): Target {
  if (key.inUse + key.pending === 0n && !isEntered) return nothing;
  const use = key.inUse + behind;
  return { ...nothing, need: use, use };
}

/** What a key needs and would like, `max` of its waiting calls at most. */
function wished(key: KeyUse, max: number, nowMs: number, { behind, isEntered }: Sent): Target {
  const { count, sum } = ask(key, max, nowMs);
  const isDue = key.unsure || key.hasIdle(nowMs) || (isEntered && key.isStale(nowMs));
  if (count === 0 && !isDue) return nothing;
  const wanted = key.wanted(nowMs);
  const keep = key.keep(wanted);
  const use = key.inUse + behind;
  // Whether there is room for what is kept is asked each time: a nano-dollar more is enough for that.
  const headroom = keep > 0n && keep === wanted ? 1n : wanted - keep;
  return { need: use + sum, use: use + keep, keep, headroom, count };
}

/** Collects. What keys keep while the batch is on its way is lowered accordingly. */
export function collect({ nowMs, keys, entries, restore, careful }: Collecting): Collected {
  const candidates = [...keys];
  const size = careful ? carefulSize(restore) : batchSize(candidates, entries.length);
  const open = entries.slice(0, size);
  const behind = drawsOf(entries.slice(size));
  const entered = new Set(open.map(({ key }) => key));
  const later = new Set(behind.keys());
  const items: Item[] = [];
  const places = new Map<KeyUse, number>();
  let left = careful && open.length > 0 ? 0 : size;
  const askedMax = left;
  for (const key of new Set([...entered, ...candidates])) {
    const isEntered = entered.has(key);
    if (careful && !restore && items.length > 0 && !isEntered) {
      later.add(key);
      continue;
    }
    const sent = { behind: behind.get(key) ?? 0n, isEntered };
    const { count, ...target } = restore ? used(key, sent) : wished(key, left, nowMs, sent);
    left -= count;
    if (count < key.waiting.length) later.add(key);
    if (target.need === null && !isEntered) continue;
    items.push({ key, epoch: key.epoch, ...target });
    places.set(key, items.length);
  }
  const written = open.map(({ key, id, charge, bound }) => ({
    place: places.get(key)!,
    id,
    charge,
    bound,
  }));
  return { nowMs, items, entries: written, open, asked: askedMax - left, later };
}
