/** Writes single bits, and the variable-length numbers of H.264 (ITU-T H.264, 9.1: Exp-Golomb). */

export class BitWriter {
  readonly #bytes: number[] = [];
  #open = 0;
  #openBits = 0;

  /** The lowest `count` bits of a value, at most 24 at once. */
  bits(value: number, count: number): this {
    for (let left = count - 1; left >= 0; left -= 1) {
      this.#open = (this.#open << 1) | ((value >> left) & 1);
      this.#openBits += 1;
      if (this.#openBits < 8) continue;
      this.#bytes.push(this.#open);
      this.#open = 0;
      this.#openBits = 0;
    }
    return this;
  }

  /** Bits written out, as the standard's tables print them: "00101". */
  text(bits: string): this {
    return this.bits(Number.parseInt(bits, 2), bits.length);
  }

  /** ue(v): a number from 0 on. */
  unsigned(value: number): this {
    const length = 32 - Math.clz32(value + 1);
    return this.bits(0, length - 1).bits(value + 1, length);
  }

  /** se(v): a number of either sign. */
  signed(value: number): this {
    return this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Everything written, the last byte filled with zeros. */
  bytes(): Buffer {
    const whole = [...this.#bytes];
    if (this.#openBits > 0) whole.push(this.#open << (8 - this.#openBits));
    return Buffer.from(whole);
  }
}
