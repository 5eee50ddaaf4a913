/**
 * What a gateway knows of one key (one of its values): how much is set aside for it, how much its calls use, who waits.
 * Invariant: while the lane's lease lasts, what the database has set aside is at least `inUse + pending`. docs/ledger.md.
 */
import { trustMs } from "../storage/index.ts";

/** A call that waits for its batch. */
export interface Waiting {
  readonly bound: bigint;
  /** When it came, by the monotonic clock. */
  readonly since: number;
  /** It was let in. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What the last moments used is what the next may use. */
const windowMs = 100;
/** How long headroom is kept after a key's last call. */
export const lingerMs = 60;
/** A check is renewed before it is too old, while there is traffic. */
const refreshMs = trustMs / 2;

/** A key that was not used for so long is not remembered. */
const forgottenMs = 600_000;

const zeroOrMore = (amount: bigint): bigint => (amount > 0n ? amount : 0n);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);

export class KeyUse {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly rotation: number;
  /** What may be used, at most what the database has set aside. */
  granted = 0n;
  /** The bounds of calls that run. */
  inUse = 0n;
  /** What the entries of calls that are over will draw, as long as they are not known to be written. */
  pending = 0n;
  waiting: Waiting[] = [];
  /** Where only a part of what waits fits: how much of it may be asked for next. */
  room: bigint | undefined;
  /** Calls wait for what others do not use: not asked again before. */
  retryAt = 0;
  /** A batch was sent and not answered: the database may have set aside more than is known here. */
  unsure = false;
  /** The last headroom that was asked for was granted. */
  roomy = false;
  lastAt = -Infinity;
  /** When the batch was sent that last found nothing against this key, and what was known of it then. */
  private checkedAt = -Infinity;
  private checkedEpoch = -1;
  epoch = 0;
  private used = 0n;
  private usedBefore = 0n;
  private windowAt = -Infinity;
  private lastBound = 0n;

  constructor(workspaceId: string, keyId: string, rotation: number) {
    this.workspaceId = workspaceId;
    this.keyId = keyId;
    this.rotation = rotation;
  }

  /** What is set aside and not used. */
  get free(): bigint {
    return this.granted - this.inUse - this.pending;
  }

  /** Something about the key, its owner, its workspace or their caps may have changed: the next call asks the database. */
  distrust(): void {
    this.epoch += 1;
  }

  /** The database found nothing against it in a batch that was sent at `sentAt`, when `epoch` was known. */
  checked(sentAt: number, epoch: number): void {
    this.checkedAt = sentAt;
    this.checkedEpoch = epoch;
  }

  isTrusted(nowMs: number): boolean {
    return nowMs - this.checkedAt < trustMs && this.checkedEpoch === this.epoch;
  }

  /** Lets a call in, in memory: true where what is free covers it and nothing can have changed. */
  admits(bound: bigint, nowMs: number): boolean {
    return this.waiting.length === 0 && this.isTrusted(nowMs) && this.free >= bound;
  }

  /** A call begins. */
  begin(bound: bigint, nowMs: number): void {
    this.inUse += bound;
    if (nowMs - this.windowAt > windowMs) {
      this.usedBefore = nowMs - this.windowAt > 2 * windowMs ? 0n : this.used;
      this.used = 0n;
      this.windowAt = nowMs;
    }
    this.used += bound;
    this.touch(bound, nowMs);
  }

  /** A call is over: its bound becomes what its entry will draw, which is not free before the database has drawn it. */
  end(bound: bigint, draw: bigint, nowMs: number): void {
    this.inUse -= bound;
    this.pending += draw;
    this.touch(bound, nowMs);
  }

  private touch(bound: bigint, nowMs: number): void {
    this.lastBound = bound;
    this.lastAt = nowMs;
  }

  isLingering(nowMs: number): boolean {
    return nowMs - this.lastAt < lingerMs;
  }

  /** What should be set aside beyond need: what the last moments used, and for one call after the other a little more than the last. */
  wanted(nowMs: number): bigint {
    if (!this.isLingering(nowMs) || this.room !== undefined) return 0n;
    const before = nowMs - this.windowAt > 2 * windowMs ? 0n : most(this.used, this.usedBefore);
    return most(before, this.lastBound + this.lastBound / 4n);
  }

  /** Whether a batch that goes anyway should renew the check, or bring more headroom. */
  isStale(nowMs: number): boolean {
    return (
      nowMs - this.checkedAt > refreshMs ||
      this.checkedEpoch !== this.epoch ||
      (this.roomy ? this.free < this.lastBound : this.free > 0n)
    );
  }

  /** What is set aside for calls to come that are not likely any more. */
  hasIdle(nowMs: number): boolean {
    return this.free > 0n && !this.isLingering(nowMs);
  }

  /**
   * What of the wanted may be used while a batch is on its way; all beyond it may not, because the batch may take it back. Nothing
   * where something about the key changed since: a cap may be near that was far, or not there.
   */
  keep(wanted: bigint): bigint {
    const isKept = this.roomy && this.checkedEpoch === this.epoch;
    const keep = isKept ? least(wanted, zeroOrMore(this.free)) : 0n;
    this.granted = least(this.granted, this.inUse + this.pending + keep);
    return keep;
  }

  /** Takes out of those who wait the first ones that `test` lets through. */
  takeWaiting(test: (waiting: Waiting) => boolean): Waiting[] {
    const taken: Waiting[] = [];
    this.waiting = this.waiting.filter((one) => {
      const takes = test(one);
      if (takes) taken.push(one);
      return !takes;
    });
    return taken;
  }

  /** Nothing is open, asked for or set aside. */
  isUnused(nowMs: number): boolean {
    return (
      !this.unsure &&
      nowMs - this.lastAt > forgottenMs &&
      this.granted <= 0n &&
      this.inUse === 0n &&
      this.pending === 0n &&
      this.waiting.length === 0
    );
  }
}
