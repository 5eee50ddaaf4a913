/**
 * A database that lost what it had confirmed: a standby that was behind has taken the primary's place, or an older copy. The row of a lane
 * then has a lower number than one that was answered. What the gateway had set aside goes back, for the database may have of it what was given
 * back long ago; the next batches set aside what running calls use. docs/ledger.md "Batches".
 */
/** What was lost, as far as one lane tells. */
export interface LostCommits {
  /** Batches that were answered and are not there any more; undefined where the lane itself is not. */
  readonly batches: number | undefined;
}

export interface LostCommitsWatch {
  /** Gives back all that the gateway has set aside, and tells its lanes to restore. */
  giveBack(): Promise<void>;
  /** Hears of it once. */
  readonly told?: ((lost: LostCommits) => void) | undefined;
}

/** The sending of a batch. */
interface Sending {
  readonly lane: number;
  readonly number: number;
}

/** The row of a lane that is silent for a day is removed, so that a lack says nothing after a long sleep of the machine. */
const remembersMs = 3_600_000;

const lanesMax = 100;

/** What a batch is refused with whose lanes must restore first: it is sent again. */
class LostCommitsError extends Error {
  override name = "LostCommitsError";
  /** As PostgreSQL names what is to be repeated. */
  readonly code = "40001";
}

/** Compares what a lane's row was before each batch with what was answered. */
export class Confirmed {
  private readonly watch: LostCommitsWatch;
  private readonly latest = new Map<number, { readonly number: number; readonly atMs: number }>();
  private owes = false;

  constructor(watch: LostCommitsWatch) {
    this.watch = watch;
  }

  /**
   * `before`: the number that the lane's row had before this batch; null where there was none. `isWritten`: its own is known to be there now,
   * which one that was answered nothing may have failed to write: another sending was under way.
   * @throws Error that is transient, where it is to be sent again
   */
  async note({ lane, number }: Sending, before: bigint | null, isWritten: boolean): Promise<void> {
    const known = this.latest.get(lane);
    if (known !== undefined && isLost(known, before)) {
      this.owes = true;
      this.watch.told?.({ batches: before === null ? undefined : known.number - Number(before) });
      // Of the other lanes too: they are told by the database.
      this.latest.clear();
    }
    if (isWritten) this.remember(lane, number);
    if (!this.owes) return;
    await this.watch.giveBack();
    this.owes = false;
    throw new LostCommitsError("the database lost batches that it had confirmed");
  }

  /** Lanes of workspaces come and go; the longest silent ones are forgotten. */
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
