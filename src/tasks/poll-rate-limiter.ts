/**
 * Limits the polls of each account at a vendor. Vendors limit the polls of an account, not of a job. After a 429 the gateway polls none
 * of the account's jobs for a while; then it polls at half the rate, which grows slowly. An account that does not answer gets only a few
 * polls at once, so that it takes no slots of the others. docs/tasks.md; T80.
 */

import { createSlotLimiter, type SlotUser } from "./slot-limiter.ts";
import { askedPauseMsMax } from "./rounds.ts";

/** Polls of one account in flight at once; one workspace gets at most half of them. */
export const atOnceMax = 64;

/** Milliseconds for which an account that refused is not polled; doubled for each further refusal without an answer between. */
const [restMsMin, restMsMax] = [1_000, 30_000];
/** Polls per second: the slowest rate, and the rate from which on an account is not limited any more. */
const [rateMin, rateFree] = [0.1, 100];
/** Milliseconds of unused rate that may be used at once, because the runner looks for due tasks only now and then. */
const burstMs = 200;
/** Polls per second that are added to the rate per second. */
const growth = 0.1;
/** Milliseconds after the last refusal until an account is not limited any more. */
const forgetMs = 600_000;
/** Accounts that are kept in memory; normally there are far fewer. */
const keptMax = 1_000;

/** One account: not limited until it refuses a poll. */
class Account {
  readonly slots = createSlotLimiter({ total: atOnceMax });
  /** Polls a second. */
  #rate = Infinity;
  /** The time of the last refusal; polls that began before it belong to it. */
  #cutMs = -Infinity;
  /** Refusals since the last answer. */
  #refusals = 0;
  /** Polls that began in the second since `#secondMs`, and in the second before: the rate that the account refuses. */
  #secondMs: number;
  #begun = 0;
  #begunBefore = 0;
  /** The time before which no poll begins. */
  nextMs: number;

  constructor(nowMs: number) {
    this.#secondMs = nowMs;
    this.nextMs = nowMs;
  }

  mayBegin(nowMs: number): boolean {
    return this.nextMs <= nowMs && this.slots.hasRoom();
  }

  /** Takes a slot for a poll of this task; false if its workspace is at its limit. */
  begin(nowMs: number, task: SlotUser): boolean {
    if (!this.slots.take(task)) return false;
    this.#count(nowMs);
    return true;
  }

  #count(nowMs: number): void {
    const passedMs = nowMs - this.#secondMs;
    if (passedMs >= 1_000) {
      this.#begunBefore = passedMs < 2_000 ? this.#begun : 0;
      this.#begun = 0;
      this.#secondMs = nowMs;
    }
    this.#begun += 1;
    if (nowMs - this.#cutMs >= forgetMs) this.#rate = Infinity;
    this.nextMs = Math.max(this.nextMs, nowMs - burstMs) + 1_000 / this.#rate;
  }

  refused(nowMs: number, begunMs: number, retryAfterMs: number): void {
    this.#pause(nowMs, retryAfterMs);
    // Other polls in flight report the same refusal again.
    if (begunMs <= this.#cutMs) return;
    this.#pause(nowMs, Math.min(restMsMin * 2 ** this.#refusals, restMsMax));
    this.#cutMs = nowMs;
    this.#refusals += 1;
    const asked = Math.max(this.#begun, this.#begunBefore, 1);
    this.#rate = Math.max(Math.min(this.#rate, asked) / 2, rateMin);
  }

  #pause(nowMs: number, ms: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs + Math.min(ms, askedPauseMsMax));
  }

  answered(): void {
    if (this.#rate === Infinity) return;
    this.#refusals = 0;
    this.#rate += growth / this.#rate;
    if (this.#rate >= rateFree) this.#rate = Infinity;
  }

  /** True if it has been unused and unlimited for long. */
  isOld(nowMs: number): boolean {
    return this.slots.isIdle() && nowMs - Math.max(this.#cutMs, this.nextMs) >= forgetMs;
  }
}

export interface PollRateLimiter {
  nowMs(): number;
  /** Accounts that cannot be polled now: they are paused, or have enough polls in flight. */
  pausedAccounts(): string[];
  /** Workspaces at their limit at an account: their ids, each before the account. */
  full(): string[];
  /** Milliseconds until the first paused account may be polled; undefined: none is paused. */
  waitMs(): number | undefined;
  /** Takes a slot for a poll of the account for this task; false if there is none now. */
  begin(account: string, task: SlotUser): boolean;
  /** Ends a poll; may be called more than once. @returns whether others may have waited for that */
  end(account: string, task: SlotUser): boolean;
  /** The account refused a poll because of its rate; the poll began at `begunMs`, by {@link PollRateLimiter.nowMs}. */
  refused(account: string, begunMs: number, retryAfterMs?: number): void;
  /** The account answered a poll. */
  answered(account: string): void;
}

/** Creates the limiter; no account is limited. `now`: monotonic milliseconds. */
export function createPollRateLimiter(
  now: () => number = () => performance.now(),
): PollRateLimiter {
  const accounts = new Map<string, Account>();

  function accountOf(name: string): Account {
    const known = accounts.get(name);
    if (known) return known;
    if (accounts.size >= keptMax) forgetOld(now());
    const made = new Account(now());
    accounts.set(name, made);
    return made;
  }

  function forgetOld(nowMs: number): void {
    for (const [name, account] of accounts) if (account.isOld(nowMs)) accounts.delete(name);
    if (accounts.size >= keptMax) accounts.clear();
  }

  return {
    nowMs: now,
    pausedAccounts() {
      const nowMs = now();
      return [...accounts].flatMap(([name, one]) => (one.mayBegin(nowMs) ? [] : [name]));
    },
    waitMs() {
      const nowMs = now();
      const ends = Array.from(accounts.values(), ({ nextMs }) => nextMs);
      const later = ends.filter((endMs) => endMs > nowMs);
      return later.length === 0 ? undefined : Math.max(1, Math.min(...later) - nowMs);
    },
    full: () =>
      [...accounts].flatMap(([name, { slots }]) =>
        slots.full().fullWorkspaces.map((workspace) => `${workspace} ${name}`),
      ),
    begin(name, task) {
      const account = accountOf(name);
      return account.mayBegin(now()) && account.begin(now(), task);
    },
    end: (name, task) => accounts.get(name)?.slots.release(task) ?? false,
    refused: (name, begunMs, retryAfterMs = 0) =>
      accountOf(name).refused(now(), begunMs, retryAfterMs),
    answered: (name) => accounts.get(name)?.answered(),
  };
}
