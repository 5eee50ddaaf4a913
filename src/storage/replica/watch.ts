/**
 * Decides whether a replica may be read now: it follows the primary, is not too far behind, and answers. Checks it every second, and with
 * back-off while it is not used. Logs each change once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { reasonOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../database.ts";
import { isAway } from "../transient.ts";
import type { Connections } from "./connections.ts";
import { History } from "./history.ts";
import {
  aheadProblem,
  replicaProblem,
  readPosition,
  positionAt,
  type ServerPosition,
} from "./position.ts";

export interface ReplicaOptions {
  /** `DATABASE_READ_URL`. */
  readonly url: string;
  readonly primary: Database;
  /** The greatest age of answers, in milliseconds. */
  readonly lagMsMax: number;
  readonly log: Pick<Log, "debug" | "info" | "warn" | "error">;
}

/** The reason that a replica is not used. `unfit`: it must not be used. */
export interface Problem {
  readonly kind: "away" | "failed" | "lagging" | "unfit";
  readonly reason: string;
}

const everyMs = 1_000;
/** A replica that takes longer to answer counts as away. */
const lookMsMax = 2_000;
/**
 * Milliseconds to wait until the replica has what the primary has now. A nearby standby has it within milliseconds. Rows of the request log
 * come once the primary writes them to disk: after some 200 ms (wal_writer_delay) if no other commit does so before.
 */
export const waitMs = 500;
const restMsMin = 1_000;
const restMsMax = 30_000;
/** A replica that was used for this long starts again with the shortest rest. */
const steadyMs = 60_000;
const closeMsMax = 1_000;

export const problemOf = (kind: Problem["kind"], error: unknown): Problem => ({
  kind,
  reason: reasonOf(error),
});

export class Watch {
  readonly #options: ReplicaOptions;
  readonly #connections: Connections;
  readonly #history: History;
  readonly #ended = new AbortController();
  readonly #looking: Promise<void>;
  /** Resolves after the first check. */
  readonly firstCheck: Promise<void>;
  #isUsed = false;
  #isNear = false;
  #problem: Problem["kind"] | undefined;
  #lagMs = 0;
  #reachedMs = performance.now();
  #usedMs = 0;
  #dueMs = 0;
  #restMs = restMsMin;

  constructor(options: ReplicaOptions, connections: Connections) {
    this.#options = options;
    this.#connections = connections;
    this.#history = new History(options.lagMsMax + 2 * everyMs);
    this.firstCheck = this.#look();
    this.#looking = this.#lookAgain();
  }

  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** True if the replica had everything that the primary had, at the last check. */
  get isNear(): boolean {
    return this.#isNear;
  }

  /** The greatest possible age of its state, in milliseconds. */
  get lagMs(): number {
    return this.#isUsed ? this.#lagMs : performance.now() - this.#reachedMs;
  }

  /** Returns the reason that the replica cannot be read now; undefined if it can. */
  problemOf(primary: ServerPosition, standing: ServerPosition): Problem | undefined {
    const reason = replicaProblem(primary, standing);
    if (reason !== undefined) return { kind: "unfit", reason };
    if (standing.lsn >= primary.lsn) return undefined;
    const { lagMsMax } = this.#options;
    const reachedMs = this.#history.reachedMs(standing.lsn);
    if (reachedMs !== undefined && performance.now() - reachedMs <= lagMsMax) return undefined;
    return { kind: "lagging", reason: `it is more than ${lagMsMax / 1_000} s behind` };
  }

  /** Stops using the replica until a check finds it good. */
  leave(problem: Problem): void {
    if (!this.#isUsed) return;
    this.#isUsed = false;
    if (performance.now() - this.#usedMs > steadyMs) this.#restMs = restMsMin;
    this.#rest(problem);
  }

  async end(): Promise<void> {
    this.#ended.abort();
    // A server that does not answer must not delay the end.
    await Promise.race([this.#looking, sleep(closeMsMax, undefined, { ref: false })]);
  }

  async #lookAgain(): Promise<void> {
    await this.firstCheck;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (!signal.aborted) await this.#look();
    }
  }

  /** Records the primary's position, and checks the replica if that is due. Never rejects. */
  async #look(): Promise<void> {
    const beganMs = performance.now();
    let primary: ServerPosition;
    try {
      primary = await readPosition(this.#options.primary);
    } catch (error) {
      // If the primary is away, readers find out there.
      if (isAway(error) || this.#isUsed || this.#ended.signal.aborted) return;
      const { reason } = problemOf("failed", error);
      return this.#rest({
        kind: "failed",
        reason: `DATABASE_URL does not say its place: ${reason}`,
      });
    }
    this.#history.add({ lsn: primary.lsn, atMs: beganMs });
    const wasUsed = this.#isUsed;
    if (!wasUsed && beganMs < this.#dueMs) return;
    const problem = await this.#lookAt(primary, beganMs);
    if (problem?.kind === "unfit" || problem?.kind === "away") this.#connections.cut();
    // A read may have failed there meanwhile.
    if (wasUsed !== this.#isUsed || this.#ended.signal.aborted) return;
    if (problem === undefined) this.#use();
    else if (wasUsed) this.leave(problem);
    else this.#rest(problem);
  }

  async #lookAt(primary: ServerPosition, beganMs: number): Promise<Problem | undefined> {
    const late = setTimeout(() => this.#connections.cut(), lookMsMax);
    try {
      const standing = await this.#connections.use((replica) =>
        positionAt(replica, primary.lsn, waitMs),
      );
      const nowMs = performance.now();
      const problem = this.problemOf(primary, standing);
      if (problem?.kind === "unfit") return problem;
      const now = await readPosition(this.#options.primary);
      if (standing.lsn > now.lsn) return { kind: "unfit", reason: aheadProblem };
      this.#isNear = standing.lsn >= primary.lsn;
      const reachedMs = this.#isNear ? beganMs : this.#history.reachedMs(standing.lsn);
      this.#reachedMs = reachedMs ?? this.#reachedMs;
      this.#lagMs = nowMs - this.#reachedMs;
      return problem;
    } catch (error) {
      return problemOf("away", error);
    } finally {
      clearTimeout(late);
    }
  }

  #use(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#problem = undefined;
    this.#usedMs = performance.now();
    const lagMs = Math.round(this.#lagMs);
    this.#options.log.info({ lag_ms: lagMs }, "lists and usage are read from the replica");
  }

  /** Postpones the next check, and logs the reason if it is new. */
  #rest({ kind, reason }: Problem): void {
    this.#dueMs = performance.now() + this.#restMs;
    this.#restMs = Math.min(2 * this.#restMs, restMsMax);
    const { log } = this.#options;
    const message = "the read replica is not used: lists and usage are read from the primary";
    const isKnown = this.#problem === kind || (this.#problem !== undefined && kind !== "unfit");
    this.#problem = kind;
    // A replica that broke off is away next, and behind when it is back: all that is one problem.
    if (isKnown) log.debug({ reason }, message);
    else if (kind === "unfit") log.error({ reason }, message);
    else log.warn({ reason }, message);
  }
}
