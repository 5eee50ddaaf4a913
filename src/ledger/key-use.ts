/**
 * What a gateway knows of one key (one of its values): how much is set aside for it, how much its calls use, and its calls: they wait,
 * run, are over, and are written. Invariant: while the lane's lease lasts, what the database has set aside is at least
 * `inUse + pending`. docs/ledger.md.
 */
import { larger, smaller } from "../base/money.ts";
import { reserveRetryMs, settleRetryMs, trustMs } from "../storage/index.ts";
import type { KeyName } from "./types.ts";

/** A call that waits for a batch. */
export interface Waiting {
  readonly bound: bigint;
  /** When it came, by the monotonic clock. */
  readonly since: number;
  /** It was let in, or its entry is written. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A call that is over, and whose entry is not known to be written. */
export interface Ended extends Waiting {
  readonly id: string;
  /** Null for a void. */
  readonly charge: bigint | null;
}

/** What the last moments used is what the next may use. */
const windowMs = 100;
/** How long headroom is kept after a key's last call. */
export const lingerMs = 60;

/** What an entry takes out of the allowance. */
export const drawOf = ({ charge, bound }: Ended): bigint => smaller(charge ?? 0n, bound);

/** The call cost more than was set aside for it. */
export const isOverrun = ({ charge, bound }: Ended): boolean => charge !== null && charge > bound;

/** It has waited for the database as long as a call does. */
export const isLate = (call: Waiting | Ended, nowMs: number): boolean =>
  nowMs - call.since > ("id" in call ? settleRetryMs : reserveRetryMs);

export class KeyUse {
  readonly name: KeyName;
  /** What may be used, at most what the database has set aside. */
  granted = 0n;
  /** The bounds of calls that run. */
  inUse = 0n;
  /** What the entries of calls that are over will draw, as long as they are not known to be written. */
  pending = 0n;
  /** Calls to be let in. */
  waiting: Waiting[] = [];
  /** Calls that are over, until their entries are written. */
  ended: Ended[] = [];
  /** Where only a part of what waits fits: how much of it may be asked for next. */
  room: bigint | undefined;
  /** Its calls wait for what others do not use: they are asked for again after a while. */
  patient = false;
  /** The last headroom that was asked for was granted. */
  roomy = false;
  /** When the batch was sent that last found nothing against this key. */
  checkedAt = -Infinity;
  /** When something about the key, its owner, its workspace or their caps was last said to have changed: earlier checks do not count. */
  changedAt = -Infinity;
  private lastAt = -Infinity;
  private lastBound = 0n;
  /** What was used, in a number: the less the longer ago. At an even pace it is what `windowMs` use. */
  private used = 0;

  constructor(name: KeyName) {
    this.name = name;
  }

  /** What is set aside and not used. */
  get free(): bigint {
    return this.granted - this.inUse - this.pending;
  }

  /** It was checked since the last change, and not too long ago. */
  isTrusted(nowMs: number, forMs = trustMs): boolean {
    return this.checkedAt > this.changedAt && nowMs - this.checkedAt < forMs;
  }

  /** Whether a call can be let in here: what is free covers it, and nothing can have changed. */
  admits(bound: bigint, nowMs: number): boolean {
    return this.waiting.length === 0 && this.isTrusted(nowMs) && this.free >= bound;
  }

  /** A call begins. */
  begin(bound: bigint, nowMs: number): void {
    this.inUse += bound;
    this.touch(bound, nowMs);
    this.used += Number(bound);
  }

  /** A call is over: its bound becomes what its entry will draw, which is not free before the database has drawn it. */
  end(call: Ended): void {
    this.inUse -= call.bound;
    this.pending += drawOf(call);
    this.ended.push(call);
    this.touch(call.bound, call.since);
  }

  /** The entries of these calls, the first that are over, are written. */
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

  /** What should be set aside beyond need: what the last moments used, and for one call after the other a little more than the last. */
  wanted(nowMs: number): bigint {
    if (!this.isLingering(nowMs) || this.room !== undefined) return 0n;
    return larger(BigInt(Math.floor(this.used)), this.lastBound + this.lastBound / 4n);
  }

  /** Whether a batch that goes anyway should renew the check before it is too old, or bring more headroom. */
  isStale(nowMs: number): boolean {
    const isShort = this.roomy ? this.free < this.lastBound : this.free > 0n;
    return isShort || !this.isTrusted(nowMs, trustMs / 2);
  }

  /** What is set aside for calls to come that are not likely any more. */
  hasIdle(nowMs: number): boolean {
    return !this.isLingering(nowMs) && this.free > 0n;
  }

  /** Calls wait, or entries are to be written. */
  get hasNews(): boolean {
    return this.waiting.length + this.ended.length > 0;
  }

  /** Nothing is set aside or in use. A running call whose bound is 0 does not count: it needs nothing that is known here. */
  isUnused(nowMs: number): boolean {
    return !this.hasNews && !this.isLingering(nowMs) && this.granted + this.inUse === 0n;
  }

  /**
   * What of the wanted may be used while a batch is on its way; all beyond it may not, because the batch may take it back. Nothing
   * where something about the key changed since: a cap may be near that was far, or not there.
   */
  keep(wanted: bigint): bigint {
    const isKept = this.roomy && this.checkedAt > this.changedAt;
    const keep = isKept ? larger(0n, smaller(wanted, this.free)) : 0n;
    this.granted = smaller(this.granted, this.inUse + this.pending + keep);
    return keep;
  }

  /** Some of the calls that wait to be let in, and of those that are over, get an error. */
  giveUp(isLost: (call: Waiting | Ended) => boolean, error: unknown): void {
    const lost = [...this.waiting, ...this.ended].filter(isLost);
    for (const call of this.ended) if (isLost(call)) this.pending -= drawOf(call);
    this.waiting = this.waiting.filter((call) => !isLost(call));
    this.ended = this.ended.filter((call) => !isLost(call));
    for (const { reject } of lost) reject(error);
  }
}
