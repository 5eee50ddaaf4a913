/**
 * Detects a database that lost commits which it had confirmed: a standby that was behind, or an older copy, took the primary's place. The
 * row of a lane then has a lower number than one that was answered. All that the gateway set aside goes back, because the database may
 * still have reservations that were given back long ago. The next batches restore those of running calls. docs/ledger.md "Batches".
 */
/** The loss, as far as one lane shows it. */
export interface LostCommits {
  /** The number of answered batches that were lost; undefined if the row of the lane is gone. */
  readonly batches: number | undefined;
}

export interface LostCommitsWatch {
  /** Gives back all that the gateway has set aside, and makes its lanes restore. */
  giveBack(): Promise<void>;
  /** Called once for each loss. */
  readonly onLost?: ((lost: LostCommits) => void) | undefined;
}

/** One sending of a batch. */
interface Sending {
  readonly lane: number;
  readonly number: number;
}

/**
 * Milliseconds that a missing row counts as a loss. Rows of lanes without batches are deleted after a day, so that a missing row proves
 * nothing after a long sleep of the machine.
 */
const remembersMs = 3_600_000;

const lanesMax = 100;

/** Fails a batch whose lanes must restore first; the lane sends it again. */
class LostCommitsError extends Error {
  override name = "LostCommitsError";
  /** PostgreSQL's code for a transaction that must be repeated. */
  readonly code = "40001";
}

/** Compares the number in a lane's row before each batch with the last one that was answered. */
export class CommitTracker {
  private readonly watch: LostCommitsWatch;
  private readonly latest = new Map<number, { readonly number: number; readonly atMs: number }>();
  private needsGiveBack = false;

  constructor(watch: LostCommitsWatch) {
    this.watch = watch;
  }

  /**
   * Records the answer of a sending. `before`: the number in the lane's row before this batch; null if there was no row. `isWritten`: this
   * batch is known to have written its number. A batch without rows in its answer may not have: another sending was in flight.
   * @throws Error that is transient, where it is to be sent again
   */
  async note({ lane, number }: Sending, before: bigint | null, isWritten: boolean): Promise<void> {
    const known = this.latest.get(lane);
    if (known !== undefined && isLost(known, before)) {
      this.needsGiveBack = true;
      this.watch.onLost?.({ batches: before === null ? undefined : known.number - Number(before) });
      // Forget the other lanes too: the database tells them to restore.
      this.latest.clear();
    }
    if (isWritten) this.remember(lane, number);
    if (!this.needsGiveBack) return;
    await this.watch.giveBack();
    this.needsGiveBack = false;
    throw new LostCommitsError("the database lost batches that it had confirmed");
  }

  /** Lanes of single workspaces come and go, so the one silent for longest is forgotten. */
  private remember(lane: number, number: number): void {
    this.latest.delete(lane);
    this.latest.set(lane, { number, atMs: Date.now() });
    const [oldest] = this.latest.keys();
    if (this.latest.size > lanesMax) this.latest.delete(oldest!);
  }
}

function isLost(
  known: { readonly number: number; readonly atMs: number },
  before: bigint | null,
): boolean {
  if (before === null) return Date.now() - known.atMs < remembersMs;
  return before < BigInt(known.number);
}
