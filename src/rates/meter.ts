/** One limit of a workspace, a member or a key, as this process knows and uses it. Pure: times are parameters, in milliseconds. */
import type { GrantRequest, Correction, Granted, MeterName } from "./take.ts";

/** A refusal, and the milliseconds until the amount may be granted. */
export interface Denied {
  readonly meter: Meter;
  readonly waitMs: number;
}

interface Waiting {
  readonly amount: number;
  /** Time of arrival. */
  readonly sinceMs: number;
  readonly resolve: (denied: Denied | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The amount used in this period is requested ahead for the next one. */
const recentMs = 250;
/** Unused grants are given back after this time. */
const freeMsMax = 500;
/** After a refusal no query is made for this time: a flood of calls above a limit costs the database nothing. */
const refusedMs = 100;
/**
 * A call above a limit of calls at once waits this long before it is refused. The database may not yet know of a call that has just ended
 * at another gateway.
 */
const patienceMs = 150;
/** A process may hold this fraction (1/20) of a limit ahead of its calls. */
const headroomShare = 20;
const forgottenMs = 120_000;

export class Meter {
  readonly name: MeterName;
  limit = 0;
  /** Granted and not used. */
  free = 0;
  /** Number of calls that run in this process; only for a limit of calls at once. */
  running = 0;
  waiting: Waiting[] = [];
  /** Some waiting calls were not granted and are to be retried after a delay. */
  shouldRetry = false;
  private corrections: Correction[] = [];
  /** Sum of the corrections in the query in flight. */
  private correcting = 0;
  /** The second that the last grant counts for. */
  step = 0;
  private grantedAt = -Infinity;
  private usedAt = -Infinity;
  private recent = 0;
  private recentBefore = 0;
  private recentAt = -Infinity;
  private total = 0;
  private resetAt = -Infinity;
  private refused: { readonly amount: number; readonly limit: number; at: number; waitMs: number };

  constructor(name: MeterName) {
    this.name = name;
    this.refused = { amount: Infinity, limit: 0, at: -Infinity, waitMs: 0 };
  }

  get countsCalls(): boolean {
    return this.name.unit === "calls";
  }

  /** Takes `amount` if it is free, and returns true. `limit` is the current limit of this caller. */
  tryTake(amount: number, limit: number, nowMs: number): boolean {
    // Calls taken ahead under a higher limit go back: the database decides by the new one.
    if (limit < this.limit) this.giveBackFree();
    this.limit = limit;
    if (this.waiting.length > 0 || this.free < amount) return false;
    this.use(amount, nowMs);
    return true;
  }

  /** The refusal that is known without a query; undefined if a query is needed. */
  refusal(amount: number, nowMs: number): Denied | undefined {
    const { at, waitMs, ...refused } = this.refused;
    const isKnown =
      nowMs - at < refusedMs && refused.limit === this.limit && amount >= refused.amount;
    return isKnown ? { meter: this, waitMs: Math.max(at + waitMs - nowMs, 0) } : undefined;
  }

  private use(amount: number, nowMs: number): void {
    this.free -= amount;
    if (this.countsCalls) this.running += amount;
    this.usedAt = nowMs;
    if (nowMs - this.recentAt > recentMs) {
      this.recentBefore = nowMs - this.recentAt > 2 * recentMs ? 0 : this.recent;
      this.recent = 0;
      this.recentAt = nowMs;
    }
    this.recent += amount;
  }

  /** Corrects the amount that was taken in second `step`. The slot of a call that ends is free for the next one at once. */
  correct(step: number, amount: number): void {
    if (amount === 0) return;
    this.refused.at = -Infinity;
    if (this.countsCalls) {
      this.running += amount;
      this.free -= amount;
    } else this.corrections.push({ step, amount });
  }

  /** The amount to request ahead, beyond the waiting calls. */
  private headroom(nowMs: number): number {
    if (this.countsCalls || nowMs - this.recentAt > 2 * recentMs) return 0;
    const wanted = Math.max(this.recent, this.recentBefore);
    return Math.min(wanted, Math.floor(this.limit / headroomShare));
  }

  /** Returns the request to send, and moves the pending corrections into it. */
  ask(nowMs: number): GrantRequest {
    const waits = this.waiting.reduce((sum, { amount }) => sum + amount, 0);
    const corrections = this.corrections;
    this.corrections = [];
    this.correcting = corrections.reduce((sum, { amount }) => sum + amount, 0);
    const first = this.countsCalls ? this.running : (this.waiting[0]?.amount ?? 0);
    const need = this.countsCalls ? this.running + waits : Math.max(waits - this.free, 0);
    // Gives up unused slots: the query asks only for running and waiting calls, so no further call may begin before its answer.
    if (this.countsCalls) this.free = 0;
    const headroom = waits > 0 ? this.headroom(nowMs) : 0;
    return { ...this.name, limit: this.limit, need, headroom, first, corrections };
  }

  /**
   * Applies the answer to a query that covered the first `asked` waiting calls: they go on or are refused, in order. Calls that arrived
   * later keep waiting if nothing is free. So does a call that may begin when another one ends.
   */
  answered(asked: number, answer: Granted, nowMs: number): void {
    this.step = answer.step;
    this.correcting = 0;
    this.total = answer.total;
    this.resetAt = nowMs + answer.resetMs;
    if (answer.granted > 0) this.grantedAt = nowMs;
    if (this.countsCalls) this.free = Math.max(answer.granted - this.running, 0);
    else this.free += answer.granted;
    const { waitMs } = answer;
    const waiting = this.waiting;
    this.waiting = [];
    this.shouldRetry = false;
    waiting.forEach((one, index) => {
      if (one.amount <= this.free) {
        this.use(one.amount, nowMs);
        one.resolve(undefined);
      } else if (index < asked && this.countsCalls && nowMs - one.sinceMs < patienceMs) {
        this.shouldRetry = true;
        this.waiting.push(one);
      } else if (index < asked) {
        this.refused = { amount: one.amount, limit: this.limit, at: nowMs, waitMs };
        one.resolve({ meter: this, waitMs });
      } else this.waiting.push(one);
    });
  }

  /** True if there are corrections to send to the database. */
  get hasCorrections(): boolean {
    return this.corrections.length > 0;
  }

  /** Handles a query without an answer. Use beyond the taken amount is sent again; amounts given back count until their minute ends. */
  failed(asked: number, error: unknown, { corrections }: Pick<GrantRequest, "corrections">): void {
    this.correcting = 0;
    this.corrections.unshift(...corrections.filter(({ amount }) => amount > 0));
    for (const { reject } of this.waiting.splice(0, asked)) reject(error);
  }

  /** Slots for calls need no correction: the next query names the running ones. */
  private giveBackFree(): void {
    if (this.free > 0 && !this.countsCalls)
      this.corrections.push({ step: this.step, amount: -this.free });
    this.free = 0;
  }

  /** Gives back unused grants. Returns true if there is something to send. */
  settle(nowMs: number): boolean {
    const isIdle = nowMs - this.usedAt >= recentMs || nowMs - this.grantedAt >= freeMsMax;
    if (isIdle && !this.countsCalls) this.giveBackFree();
    return this.hasCorrections || (this.countsCalls && this.free > 0);
  }

  /** The amount left of `limit`, and the milliseconds until all of it is free. */
  remainingAt(
    limit: number,
    nowMs: number,
  ): { readonly remaining: number; readonly resetMs: number } {
    const corrections = this.corrections.reduce((sum, { amount }) => sum + amount, this.correcting);
    const total = nowMs >= this.resetAt ? 0 : this.total;
    const used = Math.max(total + corrections - this.free, 0);
    const resetMs = used === 0 ? 0 : Math.max(this.resetAt - nowMs, 0);
    return { remaining: Math.max(Math.floor(limit - used), 0), resetMs };
  }

  isForgotten(nowMs: number): boolean {
    const isOpen = this.waiting.length > 0 || this.hasCorrections || this.free > 0;
    return !isOpen && this.running === 0 && nowMs - this.usedAt > forgottenMs;
  }
}
