/**
 * A gateway's knowledge of one value of a key: how much is set aside for it, how much its calls use, and the calls that wait or have ended.
 * Invariant: while the lane's lease lasts, the database has set aside at least `inUse + pending`. docs/ledger.md.
 */
import { larger, smaller } from "../base/money.ts";
import { reserveRetryMs, settleRetryMs, trustMs } from "../storage/index.ts";
import type { KeyName } from "./types.ts";

/** A call that waits for a batch. */
export interface Waiting {
  readonly bound: bigint;
  /** When it began to wait, in ms of the monotonic clock. */
  readonly since: number;
  /** Called when the call is let in, or when its entry is written. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A call that is over, until its entry is known to be written. */
export interface Ended extends Waiting {
  readonly id: string;
  /** Null for a void. */
  readonly charge: bigint | null;
}

/** Milliseconds of recent use that are set aside as headroom. */
const windowMs = 100;
/** Milliseconds that headroom is kept after a key's last call. */
export const lingerMs = 60;

/** Returns the amount that an entry takes out of the allowance. */
export const drawOf = ({ charge, bound }: Ended): bigint => smaller(charge ?? 0n, bound);

/** True if the call cost more than was set aside for it. */
export const isOverrun = ({ charge, bound }: Ended): boolean => charge !== null && charge > bound;

/** True if the call has waited for the database as long as it may. */
export const isTimedOut = (call: Waiting | Ended, nowMs: number): boolean =>
  nowMs - call.since > ("id" in call ? settleRetryMs : reserveRetryMs);

export class KeyUse {
  readonly name: KeyName;
  /** The amount that calls may use, at most what the database has set aside. */
  granted = 0n;
  /** The sum of the bounds of running calls. */
  inUse = 0n;
  /** The sum that the entries of ended calls will draw, until they are known to be written. */
  pending = 0n;
  /** Calls that wait for admission. */
  waiting: Waiting[] = [];
  /** Calls that are over, until their entries are written. */
  ended: Ended[] = [];
  /** The amount that the next batch may ask for, if only a part of the waiting calls fits; else undefined. */
  room: bigint | undefined;
  /** True if its calls wait for unused reservations of others: the lane retries them after a while. */
  waitsForHeadroom = false;
  /** True if the database granted the headroom that the last batch asked for. */
  headroomGranted = false;
  /** The send time of the last batch that found nothing against this key. */
  checkedAt = -Infinity;
  /** The last time that the key, its owner, its workspace or their caps may have changed: earlier checks do not count. */
  changedAt = -Infinity;
  private lastAt = -Infinity;
  private lastBound = 0n;
  /** Recent use in nano-USD, which decays over time. At an even pace it is the use of `windowMs`. */
  private used = 0;

  constructor(name: KeyName) {
    this.name = name;
  }

  /** The amount that is set aside and not used. */
  get free(): bigint {
    return this.granted - this.inUse - this.pending;
  }

  /** True if the key was checked since its last change, and less than `forMs` ago. */
  isTrusted(nowMs: number, forMs = trustMs): boolean {
    return this.checkedAt > this.changedAt && nowMs - this.checkedAt < forMs;
  }

  /** True if a call can be let in here: no other waits, the key is trusted, and `free` covers the bound. */
  admits(bound: bigint, nowMs: number): boolean {
    return this.waiting.length === 0 && this.isTrusted(nowMs) && this.free >= bound;
  }

  /** Counts a call that begins. */
  begin(bound: bigint, nowMs: number): void {
    this.inUse += bound;
    this.touch(bound, nowMs);
    this.used += Number(bound);
  }

  /** Ends a call: its bound becomes the draw of its entry, which is not free before the database has drawn it. */
  end(call: Ended): void {
    this.inUse -= call.bound;
    this.pending += drawOf(call);
    this.ended.push(call);
    this.touch(call.bound, call.since);
  }

  /** Removes the first ended calls, `entries`: the database has written them. */
  close(entries: readonly Ended[]): void {
    this.ended.splice(0, entries.length);
    for (const call of entries) this.pending -= drawOf(call);
  }

  private touch(bound: bigint, nowMs: number): void {
    this.used *= Math.max(0, 1 - (nowMs - this.lastAt) / windowMs);
    this.lastBound = bound;
    this.lastAt = nowMs;
  }

  private isLingering(nowMs: number): boolean {
    return nowMs - this.lastAt < lingerMs;
  }

  /** Returns the headroom to ask for: the recent use, or 1.25 times the last bound if that is more, for calls one after another. */
  wantedHeadroom(nowMs: number): bigint {
    if (!this.isLingering(nowMs) || this.room !== undefined) return 0n;
    return larger(BigInt(Math.floor(this.used)), this.lastBound + this.lastBound / 4n);
  }

  /** True if a batch that leaves anyway should renew the check before it is too old, or ask for more headroom. */
  isStale(nowMs: number): boolean {
    const isShort = this.headroomGranted ? this.free < this.lastBound : this.free > 0n;
    return isShort || !this.isTrusted(nowMs, trustMs / 2);
  }

  /** True if headroom is set aside that calls are not likely to use any more. */
  hasIdle(nowMs: number): boolean {
    return !this.isLingering(nowMs) && this.free > 0n;
  }

  /** True if calls wait or entries are to be written. */
  get hasPending(): boolean {
    return this.waiting.length + this.ended.length > 0;
  }

  /** True if nothing is set aside or in use. A running call with bound 0 does not count: it needs nothing from here. */
  isUnused(nowMs: number): boolean {
    return !this.hasPending && !this.isLingering(nowMs) && this.granted + this.inUse === 0n;
  }

  /**
   * Returns the part of `wantedHeadroom` that calls may use while a batch is in flight; the batch may take the rest back, so `granted` excludes it.
   * Returns 0 if the key may have changed since its check: a cap may be near that was far or absent.
   */
  keep(wantedHeadroom: bigint): bigint {
    const isKept = this.headroomGranted && this.checkedAt > this.changedAt;
    const keep = isKept ? larger(0n, smaller(wantedHeadroom, this.free)) : 0n;
    this.granted = smaller(this.granted, this.inUse + this.pending + keep);
    return keep;
  }

  /** Rejects the waiting and ended calls that match `isLost`, and forgets them. */
  giveUp(isLost: (call: Waiting | Ended) => boolean, error: unknown): void {
    const lost = [...this.waiting, ...this.ended].filter(isLost);
    for (const call of this.ended) if (isLost(call)) this.pending -= drawOf(call);
    this.waiting = this.waiting.filter((call) => !isLost(call));
    this.ended = this.ended.filter((call) => !isLost(call));
    for (const { reject } of lost) reject(error);
  }
}
