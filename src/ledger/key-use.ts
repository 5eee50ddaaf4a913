/**
 * What a gateway knows of one key (one of its values): how much is set aside for it, how much its calls use, and its calls: they wait,
 * run, are over, and are written. Invariant: while the lane's lease lasts, what the database has set aside is at least
 * `inUse + pending`. docs/ledger.md.
 */
import { trustMs } from "../storage/index.ts";

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

/** Which calls wait no longer. */
interface GivenUp {
  readonly waiting: (call: Waiting) => boolean;
  readonly ended: (call: Ended) => boolean;
}

/** What the last moments used is what the next may use. */
const windowMs = 100;
/** How long headroom is kept after a key's last call. */
export const lingerMs = 60;
/** A check is renewed before it is too old, while there is traffic. */
const refreshMs = trustMs / 2;
/** A key that was not used for so long is not remembered. */
const forgottenMs = 600_000;

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/** What an entry takes out of the allowance. */
export const drawOf = ({ charge, bound }: Ended): bigint => least(charge ?? 0n, bound);

/** Those that `test` lets through, and the rest. */
export function split<One>(all: readonly One[], test: (one: One) => boolean): [One[], One[]] {
  const [through, rest]: [One[], One[]] = [[], []];
  for (const one of all) (test(one) ? through : rest).push(one);
  return [through, rest];
}

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
  /** Calls to be let in. */
  waiting: Waiting[] = [];
  /** Calls that are over, and in no batch. */
  ended: Ended[] = [];
  /** Where only a part of what waits fits: how much of it may be asked for next. */
  room: bigint | undefined;
  /** Calls wait for what others do not use: not asked again before. */
  retryAt = 0;
  /** A batch was sent, and what became of it is not known: the database may have set aside more than is known here. */
  unsure = false;
  /** The last headroom that was asked for was granted. */
  roomy = false;
  /** How often something may have changed: a check counts where nothing did since its batch was collected. */
  epoch = 0;
  /** When the batch was sent that last found nothing against this key; never, where something may have changed since. */
  private checkedAt = -Infinity;
  /** How many calls run, or are not known to be written. */
  private open = 0;
  private lastAt = -Infinity;
  private lastBound = 0n;
  /** What was used since the window began, and in the one before. */
  private used = 0n;
  private usedBefore = 0n;
  private windowAt = -Infinity;

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
    this.checkedAt = -Infinity;
  }

  /** The database found nothing against it in a batch that was sent at `sentAt`, when `epoch` was known. */
  checked(sentAt: number, epoch: number): void {
    if (epoch === this.epoch) this.checkedAt = sentAt;
  }

  isTrusted(nowMs: number): boolean {
    return nowMs - this.checkedAt < trustMs;
  }

  /** Whether a call can be let in here: what is free covers it, and nothing can have changed. */
  admits(bound: bigint, nowMs: number): boolean {
    return this.waiting.length === 0 && this.isTrusted(nowMs) && this.free >= bound;
  }

  /** A call begins. */
  begin(bound: bigint, nowMs: number): void {
    this.open += 1;
    this.inUse += bound;
    if (nowMs - this.windowAt > windowMs) {
      this.usedBefore = this.recent(this.used, nowMs);
      this.used = 0n;
      this.windowAt = nowMs;
    }
    this.used += bound;
    this.touch(bound, nowMs);
  }

  /** A call is over: its bound becomes what its entry will draw, which is not free before the database has drawn it. */
  end(call: Ended): void {
    this.inUse -= call.bound;
    this.pending += drawOf(call);
    this.ended.push(call);
    this.touch(call.bound, call.since);
  }

  /** The entry of a call is written, or given up. */
  close(call: Ended): void {
    this.open -= 1;
    this.pending -= drawOf(call);
  }

  private touch(bound: bigint, nowMs: number): void {
    this.lastBound = bound;
    this.lastAt = nowMs;
  }

  private recent(used: bigint, nowMs: number): bigint {
    return nowMs - this.windowAt > 2 * windowMs ? 0n : used;
  }

  private isLingering(nowMs: number): boolean {
    return nowMs - this.lastAt < lingerMs;
  }

  /** What should be set aside beyond need: what the last moments used, and for one call after the other a little more than the last. */
  wanted(nowMs: number): bigint {
    if (!this.isLingering(nowMs) || this.room !== undefined) return 0n;
    const used = this.recent(most(this.used, this.usedBefore), nowMs);
    return most(used, this.lastBound + this.lastBound / 4n);
  }

  /** Whether a batch that goes anyway should renew the check, or bring more headroom. */
  isStale(nowMs: number): boolean {
    const isShort = this.roomy ? this.free < this.lastBound : this.free > 0n;
    return isShort || nowMs - this.checkedAt > refreshMs;
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
    const isKept = this.roomy && this.checkedAt > -Infinity;
    const keep = isKept ? most(0n, least(wanted, this.free)) : 0n;
    this.granted = least(this.granted, this.inUse + this.pending + keep);
    return keep;
  }

  /** Some of the calls that wait to be let in, and of those that are over, get an error. */
  giveUp(test: GivenUp, error: unknown): void {
    const [refused, waiting] = split(this.waiting, test.waiting);
    const [lost, ended] = split(this.ended, test.ended);
    this.waiting = waiting;
    this.ended = ended;
    for (const call of lost) this.close(call);
    for (const { reject } of [...refused, ...lost]) reject(error);
  }

  /** Nothing is open, asked for or set aside, and has not been for long. */
  isForgotten(nowMs: number): boolean {
    const isUnused = !this.unsure && this.open === 0 && this.waiting.length === 0;
    return isUnused && this.granted <= 0n && nowMs - this.lastAt > forgottenMs;
  }
}
