/**
 * The positions of the primary's log by time. They give the age of a replica's state by this process's clock alone. Clocks of servers
 * differ, and the time of the last replayed commit says nothing if nothing is written.
 */

interface Moment {
  readonly lsn: bigint;
  readonly atMs: number;
}

export class History {
  readonly #keptMs: number;
  #moments: Moment[] = [];

  /** @param keptMs the greatest age of a state, in ms, that the history can tell */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** Records that the primary's log had reached `lsn` at `atMs`. */
  add(moment: Moment): void {
    // After a failover to a standby that was behind, later positions belong to another history.
    const lost = (this.#moments.at(-1)?.lsn ?? 0n) > moment.lsn;
    const kept = this.#moments.filter(({ atMs }) => atMs >= moment.atMs - this.#keptMs);
    this.#moments = [...(lost ? [] : kept), moment];
  }

  /** Returns the time at which the primary had reached `lsn`; undefined if that is unknown, or longer ago than is kept. */
  reachedMs(lsn: bigint): number | undefined {
    return this.#moments.findLast((moment) => moment.lsn <= lsn)?.atMs;
  }
}
