/**
 * What the primary had written at which moments. From that follows how old the state of a replica is, by the clock of this process
 * alone: clocks of servers differ, and the time of the last replayed commit says nothing where nothing is written.
 */

interface Moment {
  readonly lsn: bigint;
  readonly atMs: number;
}

export class History {
  readonly #keptMs: number;
  #moments: Moment[] = [];

  /** @param keptMs how old a state is at most that can be told apart */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** The primary had written so much when it was asked at `atMs`. */
  add(moment: Moment): void {
    // After a failover to a standby that did not have everything, what was beyond is of another history.
    const lost = (this.#moments.at(-1)?.lsn ?? 0n) > moment.lsn;
    const kept = this.#moments.filter(({ atMs }) => atMs >= moment.atMs - this.#keptMs);
    this.#moments = [...(lost ? [] : kept), moment];
  }

  /** When everything had been committed that is in a state; undefined: longer ago than is kept, or not known. */
  reachedMs(lsn: bigint): number | undefined {
    return this.#moments.findLast((moment) => moment.lsn <= lsn)?.atMs;
  }
}
