/** One limit of a workspace, a member or a key, as far as this process knows and uses it. Pure: the time comes in, in milliseconds. */
import type { Ask, Give, Granted, MeterName } from "./take.ts";

/** What was not granted, and when it may be. */
export interface Short {
  readonly meter: Meter;
  readonly waitMs: number;
}

interface Waiting {
  readonly amount: number;
  /** When it came. */
  readonly sinceMs: number;
  readonly resolve: (short: Short | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** What the last moments took is what the next may take at once. */
const recentMs = 250;
/** What was granted and not used by then goes back. */
const freeMsMax = 500;
/** After a refusal the database is not asked for so long: a flood of calls above a limit costs it nothing. */
const refusedMs = 100;
/**
 * A call above a limit of calls at once waits so long before it is refused: one that has just ended at another gateway may not
 * be known to the database yet.
 */
const patienceMs = 150;
/** Of a limit, how much one process may have ahead of its calls. */
const headroomShare = 20;
const forgottenMs = 120_000;

export class Meter {
  readonly name: MeterName;
  limit = 0;
  /** Granted and not used. */
  free = 0;
  /** Of calls at once: how many run here. */
  running = 0;
  waiting: Waiting[] = [];
  /** Some of those who wait were not granted, and are to be asked for again after a while. */
  isPatient = false;
  private gives: Give[] = [];
  /** The sum of what is corrected by the question under way. */
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

  /** Takes `amount` where it is there: true. `limit` is the one in force for who asks. */
  takes(amount: number, limit: number, nowMs: number): boolean {
    this.limit = limit;
    if (this.waiting.length > 0 || this.free < amount) return false;
    this.use(amount, nowMs);
    return true;
  }

  /** The refusal that is known without asking again; undefined where it must be asked. */
  refusal(amount: number, nowMs: number): Short | undefined {
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

  /** Corrects what was taken in second `step`; a call that ends is free for the next one at once. */
  give(step: number, amount: number): void {
    if (amount === 0) return;
    this.refused.at = -Infinity;
    if (this.countsCalls) {
      this.running += amount;
      this.free -= amount;
    } else this.gives.push({ step, amount });
  }

  /** What may be taken beyond those who wait. */
  private headroom(nowMs: number): number {
    if (this.countsCalls || nowMs - this.recentAt > 2 * recentMs) return 0;
    const wanted = Math.max(this.recent, this.recentBefore);
    return Math.min(wanted, Math.floor(this.limit / headroomShare));
  }

  /** What is asked for; what is given back leaves with it. */
  ask(nowMs: number): Ask {
    const waits = this.waiting.reduce((sum, { amount }) => sum + amount, 0);
    const gives = this.gives;
    this.gives = [];
    this.correcting = gives.reduce((sum, { amount }) => sum + amount, 0);
    const first = this.countsCalls ? this.running : (this.waiting[0]?.amount ?? 0);
    const need = this.countsCalls ? this.running + waits : Math.max(waits - this.free, 0);
    // The database is about to hear that no more run here: none may begin before its answer.
    if (this.countsCalls) this.free = 0;
    const headroom = waits > 0 ? this.headroom(nowMs) : 0;
    return { ...this.name, limit: this.limit, need, headroom, first, gives };
  }

  /**
   * The answer to `asked`: those who waited for it go on or are refused, in their order; who came later waits on where it is not
   * there, and so does a call that may begin when another has ended.
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
    this.isPatient = false;
    waiting.forEach((one, index) => {
      if (one.amount <= this.free) {
        this.use(one.amount, nowMs);
        one.resolve(undefined);
      } else if (index < asked && this.countsCalls && nowMs - one.sinceMs < patienceMs) {
        this.isPatient = true;
        this.waiting.push(one);
      } else if (index < asked) {
        this.refused = { amount: one.amount, limit: this.limit, at: nowMs, waitMs };
        one.resolve({ meter: this, waitMs });
      } else this.waiting.push(one);
    });
  }

  /** Whether something waits to be told to the database. */
  get owes(): boolean {
    return this.gives.length > 0;
  }

  /** The database did not answer. What was used beyond what was taken is told again; what was given back counts until its minute is over. */
  failed(asked: number, error: unknown, { gives }: Pick<Ask, "gives">): void {
    this.correcting = 0;
    this.gives.unshift(...gives.filter(({ amount }) => amount > 0));
    for (const { reject } of this.waiting.splice(0, asked)) reject(error);
  }

  /** What is free and not used goes back; true where there is something to send. */
  settle(nowMs: number): boolean {
    const isIdle = nowMs - this.usedAt >= recentMs || nowMs - this.grantedAt >= freeMsMax;
    if (this.free > 0 && isIdle && !this.countsCalls) {
      this.gives.push({ step: this.step, amount: -this.free });
      this.free = 0;
    }
    return this.owes || (this.countsCalls && this.free > 0);
  }

  /** What is left of `limit`, and how long until all of it is, in milliseconds. */
  left(limit: number, nowMs: number): { readonly remaining: number; readonly resetMs: number } {
    const corrections = this.gives.reduce((sum, { amount }) => sum + amount, this.correcting);
    const total = nowMs >= this.resetAt ? 0 : this.total;
    const used = Math.max(total + corrections - this.free, 0);
    const resetMs = used === 0 ? 0 : Math.max(this.resetAt - nowMs, 0);
    return { remaining: Math.max(Math.floor(limit - used), 0), resetMs };
  }

  isForgotten(nowMs: number): boolean {
    const isOpen = this.waiting.length > 0 || this.owes || this.free > 0;
    return !isOpen && this.running === 0 && nowMs - this.usedAt > forgottenMs;
  }
}
