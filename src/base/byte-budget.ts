/**
 * Limits the bytes of bodies that one process may hold at once: requests until their calls end or their streams begin, and whole answers
 * of upstreams. Incomplete events of streams count too, and frames that wait for the answer to begin. Without it, only the callers would limit
 * the sum of allowed bodies.
 */
import { OverBudget } from "./over-budget.ts";
import { GatewayError } from "./errors.ts";
import { CpuTurns } from "./cpu-turns.ts";

/** A body above this is large: it may use only a part of the budget, and blocking work on it is done in turns. */
const largeBytes = 262_144;
/** The part of the budget that large bodies may use. The rest is for small ones: a few large bodies must not block all callers. */
export const largeShare = 0.75;
/**
 * A body may briefly take this many times its counted size; src/cli/workers/memory.ts leaves so much memory. Other uses of memory reduce
 * that.
 */
export const memoryPerByte = 6;
/** The least size of a part of a budget, however small the budget is. */
const partBytesMin = 2 * 1024 * 1024;
const retryAfterSeconds = 2;
/**
 * A sender of less than `leastBytes` in this many milliseconds may be given up for others. One byte a second would hold its place for ever.
 */
const silentMs = 10_000;
const leastBytes = 10_240;
const refusalDefault =
  "Too many bytes of requests and answers are under way (limits.bodies_under_way_mb). Retry in a moment.";

/** Bytes in transfer: their sender decides how long they are held. */
interface Transfer {
  /** When enough bytes had last come, by `performance.now`. */
  progressedMs: number;
  /** Bytes received since then. */
  bytes: number;
  /** Gives back the bytes held, and takes no more. */
  readonly giveUp: () => void;
}

/** One budget of a process. Everything that holds bodies takes a lease from it. */
export class ByteBudget {
  readonly bytesMax: number;
  /** The error message for a caller whose bytes do not fit. */
  readonly refusal: string;
  readonly turns = new CpuTurns();
  #heldBytes = 0;
  /** The longest silent first. */
  readonly #arriving = new Set<Transfer>();
  /** Billed answers that must not be refused, while there is no room for more of them. */
  readonly overBudget = new OverBudget<ByteLease>(() => this.#heldBytes <= this.largestBytes);

  constructor(bytesMax: number, refusal = refusalDefault) {
    this.bytesMax = bytesMax;
    this.refusal = refusal;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns a lease for one call, with no bytes yet. */
  lease(): ByteLease {
    return new ByteLease(this);
  }

  /** Returns room for something that may use at most `share` of the budget, such as a queue. */
  part(share: number): BytePart {
    return new BytePart(this, Math.max(this.bytesMax * share, partBytesMin));
  }

  /** The most that one holder may have. */
  get largestBytes(): number {
    return this.bytesMax * largeShare;
  }

  /** True if `bytes` more fit for a holder that then has `total`. Counts nothing. */
  fits(bytes: number, total: number): boolean {
    const most = total > largeBytes ? this.largestBytes : this.bytesMax;
    return this.#heldBytes + bytes <= most;
  }

  /** As `fits`, but first gives up senders that send almost nothing, if that is needed. */
  makesRoom(bytes: number, total: number): boolean {
    const lateMs = performance.now() - silentMs;
    for (const one of this.#arriving) {
      if (one.progressedMs > lateMs || this.fits(bytes, total)) break;
      this.#arriving.delete(one);
      one.giveUp();
    }
    return this.fits(bytes, total);
  }

  /** Records bytes that came in a transfer. Only for leases. */
  received(one: Transfer, bytes: number): void {
    one.bytes += bytes;
    if (one.bytes >= leastBytes) this.progressed(one);
  }

  /** Records that a transfer makes progress. Only for leases. */
  progressed(one: Transfer): void {
    one.bytes = 0;
    one.progressedMs = performance.now();
    this.#arriving.delete(one);
    this.#arriving.add(one);
  }

  /** Records that a transfer is complete, or will never be. Only for leases. */
  arrived(one: Transfer): void {
    this.#arriving.delete(one);
  }

  /** Counts bytes, negative ones too. Only for leases and parts. */
  count(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes < 0) this.overBudget.resumeWaiting();
  }
}

/** A part of a budget, also counted in the budget. Nothing waits for room in it: items that do not fit are dropped. */
export class BytePart {
  readonly bytesMax: number;
  readonly #budget: ByteBudget;
  #heldBytes = 0;

  constructor(budget: ByteBudget, bytesMax: number) {
    this.#budget = budget;
    this.bytesMax = bytesMax;
  }

  /** Counts more bytes if they fit; else returns false. */
  tryTake(bytes: number): boolean {
    const total = this.#heldBytes + bytes;
    if (total > this.bytesMax || !this.#budget.fits(bytes, total)) return false;
    this.#heldBytes = total;
    this.#budget.count(bytes);
    return true;
  }

  /** Gives back bytes that are no longer held. */
  give(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#budget.count(-bytes);
  }
}

/** The bytes that one call holds of a budget, until it is released. */
export class ByteLease {
  readonly #budget: ByteBudget;
  #bytes = 0;
  /** Bytes that the budget does not count. */
  #bytesBeyond = 0;
  #released = false;
  #arriving: Transfer | undefined;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The most that all leases together may have. */
  get bytesMax(): number {
    return this.#budget.bytesMax;
  }

  /** The most that one lease may have. */
  get largestBytes(): number {
    return this.#budget.largestBytes;
  }

  /** Returns another lease of the same budget, which is released separately. */
  sibling(): ByteLease {
    return this.#budget.lease();
  }

  /**
   * Counts more bytes. After the release it counts nothing: bytes that still arrive are discarded.
   * @throws GatewayError 503 `overloaded` where they do not fit; what was taken before stays taken
   */
  take(bytes: number): void {
    if (this.#released) return;
    this.check(bytes);
    this.add(bytes);
  }

  /** Counts more bytes if they fit now; else returns false. For work that can wait. */
  tryTake(bytes: number): boolean {
    const fits = this.#budget.fits(bytes, this.#bytes + bytes);
    if (fits) this.add(bytes);
    return fits;
  }

  /** Counts bytes that are already here and must not be refused any more: an answer that its vendor bills. */
  add(bytes: number): void {
    if (this.#released) return;
    this.#bytes += bytes;
    this.#budget.count(bytes);
    this.received(bytes);
  }

  /**
   * As `add`, for an answer that still arrives. Returns a promise if there is no room for more. The caller must not read on before it
   * resolves, which it does when there is room or when this answer becomes the one that goes on beyond the budget. The bytes of that one
   * are not counted.
   */
  addInTurn(bytes: number): Promise<void> | undefined {
    const { overBudget } = this.#budget;
    if (!this.#released && overBudget.isExempt(this)) {
      this.#bytesBeyond += bytes;
      this.received(bytes);
      return undefined;
    }
    this.add(bytes);
    const isFull = !this.#released && !this.#budget.makesRoom(0, largeBytes + 1);
    return isFull ? overBudget.wait(this) : undefined;
  }

  /** Records bytes that came but are not held: the sender is not silent. */
  received(bytes: number): void {
    if (this.#arriving !== undefined) this.#budget.received(this.#arriving, bytes);
  }

  /**
   * Marks the held bytes as in transfer until `arrived`. If others need room and the sender has sent less than 10 kB in ten seconds,
   * `giveUp` is called: it gives back the bytes and takes no more.
   */
  arrives(giveUp: () => void): void {
    this.#arriving = { progressedMs: 0, bytes: 0, giveUp };
    this.#budget.progressed(this.#arriving);
  }

  /** Marks the transfer as over: all bytes are here, or no more will come. */
  arrived(): void {
    if (this.#arriving !== undefined) this.#budget.arrived(this.#arriving);
    this.#arriving = undefined;
  }

  /** Checks that more bytes would fit now, for a body of announced length. Takes nothing. @throws GatewayError as `take` */
  check(bytes: number): void {
    const total = this.#bytes + bytes;
    if (this.#budget.fits(bytes, total) || this.#budget.makesRoom(bytes, total)) return;
    throw new GatewayError("overloaded", this.#budget.refusal, { retryAfterSeconds });
  }

  /** Gives back bytes that are no longer held. */
  give(bytes: number): void {
    if (this.#released) return;
    const overBudget = Math.min(bytes, this.#bytesBeyond);
    this.#bytesBeyond -= overBudget;
    this.#bytes -= bytes - overBudget;
    this.#budget.count(overBudget - bytes);
  }

  /** Gives everything back. A second release does nothing. */
  release(): void {
    if (this.#released) return;
    this.arrived();
    this.#released = true;
    this.#budget.count(-this.#bytes);
    this.#bytes = 0;
    this.#budget.overBudget.end(this);
  }

  /** Resolves when it is this body's turn for work that blocks the process; undefined for small bodies, which need not wait. */
  turn(): Promise<void> | undefined {
    return this.#bytes > largeBytes ? this.#budget.turns.take() : undefined;
  }
}
