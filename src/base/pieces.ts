/**
 * Bytes that come in pieces, and are wanted whole. Whoever sends them chooses how small the pieces are, and one that is kept as it
 * came costs some 300 bytes beside its own: 16 kB in pieces of one byte held 5 MB. So small pieces are copied behind each other, and
 * what is held is at most some four times what came, whatever the pieces.
 */

/** From here on a piece is kept as it came: what it costs beside its bytes is small. */
const largeBytes = 4_096;
/** Small pieces are copied into blocks as large as what is there already, within these bounds. */
const blockBytesMin = 1_024;
const blockBytesMax = 65_536;

export class Pieces {
  /** The first as it came, then large ones and full blocks. */
  readonly #whole: Buffer[] = [];
  /** The last, where it takes small pieces. */
  #block: Buffer | undefined;
  #used = 0;
  /** Bytes of all pieces. */
  length = 0;

  /** How many buffers hold them. */
  get buffers(): number {
    return this.#whole.length + (this.#block === undefined ? 0 : 1);
  }

  /** Takes the next piece, which must not change afterwards. */
  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.length += piece.length;
    const rest = this.#block === undefined ? piece : this.#fill(this.#block, piece);
    if (rest.length === 0) return;
    if (this.#whole.length > 0 && rest.length < largeBytes) this.#begin(rest);
    else this.#whole.push(rest);
  }

  /** All of them, in one buffer; of a single piece that one. */
  join(): Buffer {
    const last = this.#block === undefined ? [] : [this.#block.subarray(0, this.#used)];
    const all = [...this.#whole, ...last];
    return all.length === 1 ? all[0]! : Buffer.concat(all, this.length);
  }

  /** What does not fit any more. */
  #fill(block: Buffer, piece: Buffer): Buffer {
    const taken = piece.copy(block, this.#used);
    this.#used += taken;
    if (this.#used === block.length) {
      this.#whole.push(block);
      this.#block = undefined;
    }
    return piece.subarray(taken);
  }

  #begin(piece: Buffer): void {
    const bytes = Math.min(Math.max(this.length, blockBytesMin), blockBytesMax);
    // One of its own: a part of a pool would keep the pool.
    this.#block = Buffer.allocUnsafeSlow(bytes);
    this.#used = piece.copy(this.#block);
  }
}
