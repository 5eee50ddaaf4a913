/**
 * How fast each account of a vendor is asked about jobs. Vendors limit the polls of an account, not of a job: one that answers 429 is left
 * alone with all of its jobs, and asked at half the rate afterwards, which then grows slowly. One that does not answer is asked about a
 * few jobs at once, so that it takes no places of the others. docs/tasks.md; T80.
 */

import { createPlaces, type Placed } from "./places.ts";
import { askedPauseMsMax } from "./rounds.ts";

/** Polls of one account under way at once; half of them are the most that one workspace has. */
export const atOnceMax = 64;

/** How long an account that refused is left alone; twice as long for each further refusal without an answer between. */
const [restMsMin, restMsMax] = [1_000, 30_000];
/** Polls a second: the slowest, and the rate from which on an account is not limited any more. */
const [rateMin, rateFree] = [0.1, 100];
/** What was not used of the rate in this time may be used at once: due tasks are looked for now and then. */
const burstMs = 200;
/** Polls a second that are added per second. */
const growth = 0.1;
/** So long after the last refusal an account is not limited any more. */
const forgetMs = 600_000;
/** Accounts are not many. */
const keptMax = 1_000;

/** One account: free until it refuses a poll. */
class Account {
  readonly places = createPlaces({ total: atOnceMax });
  readonly underWay = new Map<string, Placed>();
  /** Polls a second. */
  #rate = Infinity;
  /** When it refused; polls that were begun before belong to that refusal. */
  #cutMs = -Infinity;
  /** Refusals since the last answer. */
  #refusals = 0;
  /** Polls begun in the second that began then, and in the one before: the rate that is refused. */
  #secondMs: number;
  #begun = 0;
  #begunBefore = 0;
  /** The next poll begins no sooner. */
  nextMs: number;

  constructor(nowMs: number) {
    this.#secondMs = nowMs;
    this.nextMs = nowMs;
  }

  mayBegin(nowMs: number): boolean {
    return this.nextMs <= nowMs && this.places.hasRoom();
  }

  /** Takes a turn for a poll of this task; false where its workspace has as many as it may. */
  begin(nowMs: number, task: Placed): boolean {
    if (this.places.take([task]).length === 0) return false;
    this.underWay.set(task.id, task);
    this.#count(nowMs);
    return true;
  }

  /** Whether others may have waited for that. */
  end(id: string): boolean {
    const task = this.underWay.get(id);
    return task !== undefined && this.underWay.delete(id) && this.places.leave(task);
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
    this.#rest(nowMs, retryAfterMs);
    // Those that were under way with it tell the same once more.
    if (begunMs <= this.#cutMs) return;
    this.#rest(nowMs, Math.min(restMsMin * 2 ** this.#refusals, restMsMax));
    this.#cutMs = nowMs;
    this.#refusals += 1;
    const asked = Math.max(this.#begun, this.#begunBefore, 1);
    this.#rate = Math.max(Math.min(this.#rate, asked) / 2, rateMin);
  }

  #rest(nowMs: number, ms: number): void {
    this.nextMs = Math.max(this.nextMs, nowMs + Math.min(ms, askedPauseMsMax));
  }

  answered(): void {
    if (this.#rate === Infinity) return;
    this.#refusals = 0;
    this.#rate += growth / this.#rate;
    if (this.#rate >= rateFree) this.#rate = Infinity;
  }

  /** Whether it has been free for long. */
  isOld(nowMs: number): boolean {
    return this.underWay.size === 0 && nowMs - Math.max(this.#cutMs, this.nextMs) >= forgetMs;
  }
}

export interface PollPace {
  nowMs(): number;
  /** Accounts that are not to be asked now: they rest, or are being asked about enough jobs. */
  resting(): string[];
  /** Workspaces that have all they may have at an account: their ids, each before it. */
  full(): string[];
  /** In how many milliseconds the first of them has rested; undefined: none rests. */
  waitMs(): number | undefined;
  /** Takes a turn for a poll of the account about this task; false where there is none now. */
  begin(account: string, task: Placed): boolean;
  /** It is over, and may be said to be more than once. @returns whether others may have waited for that */
  end(account: string, task: string): boolean;
  /** The account was asked at `begunMs`, by {@link PollPace.nowMs}, and refused because it is asked too often. */
  refused(account: string, begunMs: number, retryAfterMs?: number): void;
  /** It answered. */
  answered(account: string): void;
}

/** No account is limited. `now`: monotonic milliseconds. */
export function createPollPace(now: () => number = () => performance.now()): PollPace {
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
    resting() {
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
      [...accounts].flatMap(([name, { places }]) =>
        places.full().fullWorkspaces.map((workspace) => `${workspace} ${name}`),
      ),
    begin(name, task) {
      const account = accountOf(name);
      return account.mayBegin(now()) && account.begin(now(), task);
    },
    end: (name, task) => accounts.get(name)?.end(task) ?? false,
    refused: (name, begunMs, retryAfterMs = 0) =>
      accountOf(name).refused(now(), begunMs, retryAfterMs),
    answered: (name) => accounts.get(name)?.answered(),
  };
}
