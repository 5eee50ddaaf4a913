/**
 * Which calls are refused while there are more than this process can take. The event loop goes in rounds: one round reads the
 * requests that have come, and goes on with the calls of earlier rounds. With too many calls a round gets longer, so that more
 * have come by the next one. A bound on the new calls of a round ends that: what is above it is refused at once, which is a small
 * part of a call's work, and the calls that are taken wait for a few rounds of that length. A burst is no overload: what earlier
 * rounds left is taken then. After a refusal little is left over at first: in an overload each lull of its callers, or pause of the
 * machine, would else be followed by a long round. And a few calls at a time are none, however quickly they follow each other: a
 * quick machine ends more calls in a round than the bound. docs/operate.md "More calls than it can take".
 */
import { type GatewayError, overloaded } from "./errors.ts";
import type { Log } from "./log.ts";

/** A round is over when timers run again. On time they do so this often. */
const tickMs = 5;
/** A burst may be so many rounds' calls. */
const burstRounds = 16;
/** After a refusal it may be one round's, and this part of a round more with every round that refuses nothing. */
const burstGrowth = 1 / 16;
/** While no more calls than so many rounds' are under way, none is refused. */
const fewRounds = 4;
/** A gateway that nobody calls does nothing; while calls are under way, and no new ones come, it looks less often. */
const idleMs = 1_000;
const calmMs = 500;
const logMs = 10_000;
/** In a round of so long a database gives up on us: it ends transactions in which nothing comes for three seconds. */
const lateMs = 2_000;
/** So long afterwards calls may still fail by it. */
const lateForMs = 10_000;
/** One for all: an error of its own for each would be a good part of what a refusal costs. */
const tooMany = overloaded("The gateway has more calls than it can take now. Retry in a moment.");
const tooLate = overloaded(
  "The gateway was too busy to hear its database in time. Retry in a moment.",
);

interface LoadSources {
  readonly log: Pick<Log, "warn">;
  /** Requests under way, the one that is being asked about among them. */
  readonly underWay: () => number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

export class LoadGuard {
  readonly #roundMax: number;
  readonly #log: Pick<Log, "warn">;
  readonly #underWay: () => number;
  readonly #now: () => number;
  #timer: NodeJS.Timeout | undefined;
  /** How often it runs; 0: not at all. */
  #everyMs = 0;
  /** New calls that may be taken now. */
  #free: number;
  /** How many of them earlier rounds may leave. */
  #most: number;
  #askedInRound = false;
  #askedMs = 0;
  #refused = 0;
  #refusedBefore = 0;
  #refusedLogged = 0;
  #loggedMs = -Infinity;
  #tickedMs = 0;
  /** When a round ended last that was far too long. */
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

  /** Whether a new call would be taken now, before anything is done for it. @throws GatewayError `overloaded` where it is one too many */
  check(): void {
    if (this.#free >= 1 || this.#underWay() <= this.#roundMax * fewRounds) return;
    this.#refused += 1;
    throw tooMany;
  }

  /** What is told of an error: where this process was late, the database is not what was missing. */
  told(error: GatewayError): GatewayError {
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

  /** A round is over. The timer calls it, and tests do. */
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
