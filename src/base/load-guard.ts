/**
 * Refuses calls while there are more than this process can handle. In one round, the event loop reads the requests that have come, and
 * continues the calls of earlier rounds. With too many calls a round gets longer, so that more have come by the next one. A bound on the
 * new calls of a round ends that. Calls above it are refused at once, which costs a small part of a call's work; the others wait for a few
 * rounds of that length. A burst is no overload: it may use what earlier rounds left. After a refusal little is left at first: in an
 * overload, each lull of the callers, or pause of the machine, would otherwise be followed by a long round. And a few calls at a time are
 * no overload, however quickly they follow each other: a fast machine ends more calls in a round than the bound. docs/load.md "More
 * calls than it can take".
 */
import { type GatewayError, overloaded } from "./errors.ts";
import type { Log } from "./log.ts";

/** Milliseconds between timer ticks. A round ends when timers run again, which is late under load. */
const tickMs = 5;
/** A burst may have the calls of this many rounds. */
const burstRounds = 16;
/** After a refusal a burst may have the calls of one round, and this part of a round more after every round without a refusal. */
const burstGrowth = 1 / 16;
/** While at most this many rounds' calls are in flight, none is refused. */
const fewRounds = 4;
/** An idle gateway has no timer. While calls are in flight and no new ones come, the timer runs less often. */
const idleMs = 1_000;
const calmMs = 500;
const logMs = 10_000;
/** After a round this long the database may have given up on us: it ends transactions that are idle for three seconds. */
const lateMs = 2_000;
/** Calls may still fail because of that for this long. */
const lateForMs = 10_000;
/** One error for all: making one for each would be a good part of a refusal's cost. */
const tooMany = overloaded("The gateway has more calls than it can take now. Retry in a moment.");
const tooLate = overloaded(
  "The gateway was too busy to read its database's answer in time. Retry in a moment.",
);

interface LoadSources {
  readonly log: Pick<Log, "warn">;
  /** The number of requests in flight, including the one in question. */
  readonly underWay: () => number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Replaces a database error by this process's lateness, where that was the cause. */
export interface ErrorExplainer {
  explain(error: GatewayError): GatewayError;
}

export class LoadGuard implements ErrorExplainer {
  readonly #roundMax: number;
  readonly #log: Pick<Log, "warn">;
  readonly #underWay: () => number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  /** Milliseconds between ticks; 0 without a timer. */
  #everyMs = 0;
  /** New calls that may be taken now. */
  #free: number;
  /** The most that earlier rounds may leave of them. */
  #most: number;
  #askedInRound = false;
  #askedMs = 0;
  #refused = 0;
  #refusedBefore = 0;
  #refusedLogged = 0;
  #loggedMs = -Infinity;
  #tickedMs = 0;
  /** The end of the last round that was far too long. */
  #lateMs = -Infinity;

  /** `roundMax`: new calls of one round, 0 for no bound. */
  constructor(roundMax: number, { log, underWay, now = () => performance.now() }: LoadSources) {
    this.#roundMax = roundMax === 0 ? Infinity : roundMax;
    this.#most = this.#roundMax * burstRounds;
    this.#free = this.#most;
    this.#log = log;
    this.#underWay = underWay;
    this.#now = now;
  }

  /** Calls refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Takes a new call. @throws GatewayError as `check` */
  admit(): void {
    this.#askedInRound = true;
    this.#watch(tickMs);
    this.check();
    this.#free = Math.max(0, this.#free - 1);
  }

  /**
   * Checks that a new call would be taken now, before anything is done for it. @throws GatewayError `overloaded` where it is one too many
   */
  check(): void {
    if (this.#free >= 1 || this.#underWay() <= this.#roundMax * fewRounds) return;
    this.#refused += 1;
    throw tooMany;
  }

  /** Returns the error for the caller: if this process was late, the database was not the cause. */
  explain(error: GatewayError): GatewayError {
    const isLate = this.#now() - this.#lateMs < lateForMs;
    return error.code === "database_unavailable" && isLate ? tooLate : error;
  }

  #watch(everyMs: number): void {
    if (this.#everyMs === everyMs) return;
    clearInterval(this.#timer);
    this.#everyMs = everyMs;
    this.#tickedMs = this.#now();
    this.#timer = setInterval(() => this.tick(), everyMs).unref();
  }

  /** Ends a round. The timer calls it, and so do tests. */
  tick(): void {
    const nowMs = this.#now();
    if (this.#everyMs > 0 && nowMs - this.#tickedMs >= lateMs) this.#lateMs = nowMs;
    this.#tickedMs = nowMs;
    const max = this.#roundMax;
    const quietMost = Math.min(this.#most + max * burstGrowth, max * burstRounds);
    this.#most = this.#refused > this.#refusedBefore ? max : quietMost;
    this.#refusedBefore = this.#refused;
    this.#free = Math.min(this.#free + max, this.#most);
    if (this.#askedInRound) this.#askedMs = nowMs;
    this.#askedInRound = false;
    this.#report(nowMs);
    if (nowMs - this.#askedMs <= idleMs) return;
    if (this.#underWay() > 0) this.#watch(calmMs);
    else this.close();
  }

  #report(nowMs: number): void {
    const refused = this.#refused - this.#refusedLogged;
    if (refused === 0 || nowMs - this.#loggedMs < logMs) return;
    this.#loggedMs = nowMs;
    this.#refusedLogged = this.#refused;
    this.#log.warn({ refused }, "more calls come than the gateway can take; these got 503");
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#everyMs = 0;
  }
}
