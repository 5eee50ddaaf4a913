/** Writing protobuf, as far as spans need it: one buffer that grows, sizes known before anything is written. */

/** Bytes that a number takes. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

const uint32 = 4_294_967_296;

export class ProtobufWriter {
  bytes: Buffer;
  at = 0;
  #view: DataView;

  constructor(bytesFirst = 256) {
    this.bytes = Buffer.allocUnsafeSlow(bytesFirst);
    this.#view = new DataView(this.bytes.buffer);
  }

  /** Makes room for so many bytes. */
  reserve(count: number): void {
    if (this.at + count > this.bytes.length) this.#grow(count);
  }

  #grow(count: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.at + count));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
    this.#view = new DataView(larger.buffer);
  }

  byte(value: number): void {
    this.bytes[this.at++] = value;
  }

  /** A number from 0 to 2^53. */
  varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  /**
   * A field with a text of so many bytes. False where it has another number: it is then to be written again over this. Most
   * texts have as many bytes as characters, and trying that is faster than counting.
   */
  text(tag: number, value: string, bytes: number): boolean {
    // No character of UTF-16 takes more than three.
    this.reserve(3 * value.length + 16);
    this.byte(tag);
    this.varint(bytes);
    const written = this.bytes.write(value, this.at);
    this.at += written;
    return written === bytes;
  }

  copy(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** 32 bits, the highest first, as ids have them. */
  word(value: number): void {
    this.#view.setInt32(this.at, value);
    this.at += 4;
  }

  /** 32 bits, the lowest first, as protobuf has them. */
  fixed32(value: number): void {
    this.#view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** Milliseconds since the Unix epoch as nanoseconds, in eight bytes: whole ones, and nanoseconds below a million. */
  time(wholeMs: number, nanos: number): void {
    // Split at 2^16, because the product is above what a number holds exactly.
    const high = Math.floor(wholeMs / 65_536) * 1e6;
    const low = (wholeMs % 65_536) * 1e6 + nanos + (high % 65_536) * 65_536;
    this.fixed32(low % uint32);
    this.fixed32(Math.floor(high / 65_536) + Math.floor(low / uint32));
  }

  double(value: number): void {
    this.#view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** What was written, as bytes of their own. */
  written(): Uint8Array {
    return Uint8Array.from(this.bytes.subarray(0, this.at));
  }
}
