/**
 * How many bytes of bodies one process may hold at once: requests until their calls end or their streams begin,
 * whole answers of upstreams, and what of their streams waits for the end of its event.
 * Without it the sum of allowed bodies is bounded by nothing but the callers.
 */
import { Beyond } from "./beyond.ts";
import { GatewayError } from "./errors.ts";
import { Turns } from "./turns.ts";

/** Above this, a body counts as large: it may use only its part of the budget, and is worked on in turn. */
const largeBytes = 262_144;
/** The part of the budget that large bodies may use. The rest is kept for small ones: a few large bodies must not stop everybody. */
export const largeShare = 0.75;
/**
 * A body may take so many times its counted size in memory for a moment, and so much is left for it (src/cli/workers/memory.ts). What
 * takes memory in another way counts as so much less.
 */
export const memoryPerByte = 6;
/** The least that a part of a budget has, however small the budget is. */
const partBytesMin = 2 * 1024 * 1024;
const retryAfterSeconds = 2;
/** Whose sender has sent less than that in so long may be given up for others. One byte a second would hold its place for ever. */
const silentMs = 10_000;
const leastBytes = 10_240;
const refusalDefault =
  "Too many bytes of requests and answers are under way (limits.bodies_under_way_mb). Retry in a moment.";

/** Bytes that are on their way, of whom it is up to their sender how long they are held. */
interface Arriving {
  /** When enough had come last, by `performance.now`. */
  movedMs: number;
  /** What came since. */
  bytes: number;
  /** Gives back what it holds, and takes no more. */
  readonly giveUp: () => void;
}

/** One budget of a process. Everything that holds bodies takes a lease of it. */
export class ByteBudget {
  readonly bytesMax: number;
  /** What a caller is told whose bytes do not fit. */
  readonly refusal: string;
  readonly turns = new Turns();
  #heldBytes = 0;
  /** Those that were silent for longest first. */
  readonly #arriving = new Set<Arriving>();
  /** Answers that no one refuses, where there is no room for more of them. */
  readonly beyond = new Beyond<ByteLease>(() => this.#heldBytes <= this.largestBytes);

  constructor(bytesMax: number, refusal = refusalDefault) {
    this.bytesMax = bytesMax;
    this.refusal = refusal;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** What one call holds; nothing at first. */
  lease(): ByteLease {
    return new ByteLease(this);
  }

  /** Room for what may have no more than `share` of it, such as a queue. */
  part(share: number): BytePart {
    return new BytePart(this, Math.max(this.bytesMax * share, partBytesMin));
  }

  /** The most that one holder may have. */
  get largestBytes(): number {
    return this.bytesMax * largeShare;
  }

  /** True where `bytes` more fit for a holder that has `total` with them. Counts nothing. */
  fits(bytes: number, total: number): boolean {
    const most = total > largeBytes ? this.largestBytes : this.bytesMax;
    return this.#heldBytes + bytes <= most;
  }

  /** The same, after those who send next to nothing were given up where it takes that. */
  makesRoom(bytes: number, total: number): boolean {
    const lateMs = performance.now() - silentMs;
    for (const one of this.#arriving) {
      if (one.movedMs > lateMs || this.fits(bytes, total)) break;
      this.#arriving.delete(one);
      one.giveUp();
    }
    return this.fits(bytes, total);
  }

  /** Bytes came of it. Only for leases. */
  came(one: Arriving, bytes: number): void {
    one.bytes += bytes;
    if (one.bytes >= leastBytes) this.moved(one);
  }

  /** It is on its way as it should be. Only for leases. */
  moved(one: Arriving): void {
    one.bytes = 0;
    one.movedMs = performance.now();
    this.#arriving.delete(one);
    this.#arriving.add(one);
  }

  /** It is here, or will never be. Only for leases. */
  arrived(one: Arriving): void {
    this.#arriving.delete(one);
  }

  /** Counts bytes, negative ones too. Only for leases and parts. */
  count(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes < 0) this.beyond.look();
  }
}

/** A part of a budget, and counted in it: nobody waits for what is in it, and what does not fit is dropped. */
export class BytePart {
  readonly bytesMax: number;
  readonly #budget: ByteBudget;
  #heldBytes = 0;

  constructor(budget: ByteBudget, bytesMax: number) {
    this.#budget = budget;
    this.bytesMax = bytesMax;
  }

  /** Counts bytes more where they fit. */
  tryTake(bytes: number): boolean {
    const total = this.#heldBytes + bytes;
    if (total > this.bytesMax || !this.#budget.fits(bytes, total)) return false;
    this.#heldBytes = total;
    this.#budget.count(bytes);
    return true;
  }

  /** Gives bytes back that are no longer held. */
  give(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#budget.count(-bytes);
  }
}

/** The bytes that one call holds of a budget, until it is released. */
export class ByteLease {
  readonly #budget: ByteBudget;
  #bytes = 0;
  /** What is not counted in the budget. */
  #bytesBeyond = 0;
  #released = false;
  #arriving: Arriving | undefined;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The most that all together may have. */
  get bytesMax(): number {
    return this.#budget.bytesMax;
  }

  /** The most that one may have. */
  get largestBytes(): number {
    return this.#budget.largestBytes;
  }

  /** Another one of the same budget, released apart from this one. */
  beside(): ByteLease {
    return this.#budget.lease();
  }

  /**
   * Counts bytes more. After the release nothing is counted: what still arrives belongs to nobody.
   * @throws GatewayError 503 `overloaded` where they do not fit; what was taken before stays taken
   */
  take(bytes: number): void {
    if (this.#released) return;
    this.check(bytes);
    this.add(bytes);
  }

  /** Counts bytes more where they fit now. For work that can wait. */
  tryTake(bytes: number): boolean {
    const fits = this.#budget.fits(bytes, this.#bytes + bytes);
    if (fits) this.add(bytes);
    return fits;
  }

  /** Counts bytes that are there already and must not be refused any more: an answer that its vendor bills. */
  add(bytes: number): void {
    if (this.#released) return;
    this.#bytes += bytes;
    this.#budget.count(bytes);
    this.came(bytes);
  }

  /**
   * The same of an answer that is still on its way. A promise where there is no room for more: the next are not to be read before it
   * resolves, which is when there is some, or when no other such answer goes on beyond it. What the one that does is not counted.
   */
  addInTurn(bytes: number): Promise<void> | undefined {
    const { beyond } = this.#budget;
    if (!this.#released && beyond.is(this)) {
      this.#bytesBeyond += bytes;
      this.came(bytes);
      return undefined;
    }
    this.add(bytes);
    const isFull = !this.#released && !this.#budget.makesRoom(0, largeBytes + 1);
    return isFull ? beyond.wait(this) : undefined;
  }

  /** Bytes came that it does not hold: its sender is not silent. */
  came(bytes: number): void {
    if (this.#arriving !== undefined) this.#budget.came(this.#arriving, bytes);
  }

  /**
   * From here on what it holds is on its way, until `arrived`. Where others need room and its sender has sent less than
   * 10 kB in ten seconds, it is given up: `giveUp` gives back what it holds and takes no more.
   */
  arrives(giveUp: () => void): void {
    this.#arriving = { movedMs: 0, bytes: 0, giveUp };
    this.#budget.moved(this.#arriving);
  }

  /** All of it is here, or nothing more will come. */
  arrived(): void {
    if (this.#arriving !== undefined) this.#budget.arrived(this.#arriving);
    this.#arriving = undefined;
  }

  /** Whether bytes more would fit now, for a body whose length is announced. Takes nothing. @throws GatewayError as `take` */
  check(bytes: number): void {
    const total = this.#bytes + bytes;
    if (this.#budget.fits(bytes, total) || this.#budget.makesRoom(bytes, total)) return;
    throw new GatewayError("overloaded", this.#budget.refusal, { retryAfterSeconds });
  }

  /** Gives bytes back that are no longer held. */
  give(bytes: number): void {
    if (this.#released) return;
    const beyond = Math.min(bytes, this.#bytesBeyond);
    this.#bytesBeyond -= beyond;
    this.#bytes -= bytes - beyond;
    this.#budget.count(beyond - bytes);
  }

  /** Gives everything back. A second release does nothing. */
  release(): void {
    if (this.#released) return;
    this.arrived();
    this.#released = true;
    this.#budget.count(-this.#bytes);
    this.#bytes = 0;
    this.#budget.beyond.over(this);
  }

  /** Resolves when it is this body's turn for work that blocks the process; undefined for small bodies, which need not wait. */
  turn(): Promise<void> | undefined {
    return this.#bytes > largeBytes ? this.#budget.turns.take() : undefined;
  }
}
