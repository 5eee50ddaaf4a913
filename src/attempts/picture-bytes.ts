/**
 * The share of the process's byte budget that pictures of non-streamed answers take. It is reserved before the vendor is asked: a picture
 * that has been made is billed, so it must not be refused any more.
 */
import type { ByteLease } from "../base/byte-budget.ts";
import type { AnswerRoom } from "../upstream/index.ts";

/** Bytes of a usual picture in base64; larger ones are counted as they arrive. */
const pictureBytes = 2 ** 21;

/** Bytes that this number of pictures takes. */
export const expectedBytes = (pictures: number): number => pictures * pictureBytes;

/**
 * Counts in `lease` the bytes of an answer beyond the `expected` ones, which the lease already holds. The answer is billed, so it is never
 * refused: bytes without room wait for it. An answer that stalls while others need room is given up.
 */
export class PictureRoom implements AnswerRoom {
  readonly #lease: ByteLease;
  readonly #expected: number;
  #total = 0;
  #beyond = 0;
  #giveUp: (() => void) | undefined;

  constructor(lease: ByteLease, expected: number) {
    this.#lease = lease;
    this.#expected = expected;
  }

  get bytesMax(): number {
    return this.#lease.bytesMax;
  }

  /** The most bytes that one event of a stream may have. */
  get eventBytesMax(): number {
    return this.#lease.largestBytes;
  }

  onStart(giveUp: () => void): void {
    this.#giveUp = giveUp;
  }

  onBytes(bytes: number): Promise<void> | undefined {
    this.#total += bytes;
    const change = Math.max(0, this.#total - this.#expected) - this.#beyond;
    if (change === 0) return undefined;
    if (this.#beyond === 0) this.#arrives();
    this.#beyond += change;
    if (this.#beyond === 0) this.#lease.arrived();
    if (change < 0) {
      this.#lease.give(-change);
      return undefined;
    }
    const turn = this.#lease.addInTurn(change);
    if (turn === undefined) return undefined;
    // The wait from here on is not the vendor's fault.
    this.#lease.arrived();
    return turn.then(() => this.#arrives());
  }

  onEnd(isWhole: boolean): void {
    this.#giveUp = undefined;
    this.#lease.arrived();
    if (!isWhole) this.#drop();
  }

  #arrives(): void {
    const giveUp = this.#giveUp;
    if (giveUp === undefined) return;
    this.#lease.arrives(() => {
      this.#drop();
      giveUp();
    });
  }

  #drop(): void {
    this.#lease.give(this.#beyond);
    this.#beyond = 0;
    this.#total = 0;
  }
}
