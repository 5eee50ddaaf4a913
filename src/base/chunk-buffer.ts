/**
 * Joins bytes that come in chunks. The sender chooses the size of the chunks, and each kept chunk costs some 300 bytes besides its own: 16
 * kB in chunks of one byte held 5 MB. So small chunks are copied together. The memory is at most some four times the bytes, whatever the
 * chunks.
 */

/** A chunk of at least this size is kept as it came: its overhead is small. */
const largeBytes = 4_096;
/** Small chunks are copied into blocks as large as all chunks so far, within these bounds. */
const blockBytesMin = 1_024;
const blockBytesMax = 65_536;

export class ChunkBuffer {
  /** The first chunk as it came, then large ones and full blocks. */
  readonly #whole: Buffer[] = [];
  /** The last block, if it takes small chunks. */
  #block: Buffer | undefined;
  #used = 0;
  /** The bytes of all chunks. */
  length = 0;

  /** The number of buffers. */
  get buffers(): number {
    return this.#whole.length + (this.#block === undefined ? 0 : 1);
  }

  /** Adds the next chunk, which must not change afterwards. */
  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.length += piece.length;
    const rest = this.#block === undefined ? piece : this.#fill(this.#block, piece);
    if (rest.length === 0) return;
    if (this.#whole.length > 0 && rest.length < largeBytes) this.#begin(rest);
    else this.#whole.push(rest);
  }

  /** Returns all bytes in one buffer; a single chunk itself. */
  join(): Buffer {
    const last = this.#block === undefined ? [] : [this.#block.subarray(0, this.#used)];
    const all = [...this.#whole, ...last];
    return all.length === 1 ? all[0]! : Buffer.concat(all, this.length);
  }

  /** Copies into the block; returns the rest that does not fit. */
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
    // Not from the pool: a part of it would keep the whole pool in memory.
    this.#block = Buffer.allocUnsafeSlow(bytes);
    this.#used = piece.copy(this.#block);
  }
}
