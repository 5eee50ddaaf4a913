/** A protobuf writer with the parts that spans need: one growing buffer, sizes known before writing. */

/** The number of bytes of a varint. */
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

  /** Makes room for `count` bytes. */
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

  /** Writes a varint from 0 to 2^53. */
  varint(value: number): void {
    let rest = value;
    while (rest > 127) {
      this.bytes[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
  }

  /**
   * Writes a text field, assuming that its text has `bytes` bytes. False if it has another number: the caller must then write it
   * again over this one. Most texts have as many bytes as characters, and trying is faster than counting.
   */
  text(tag: number, value: string, bytes: number): boolean {
    // A UTF-16 unit takes at most three bytes in UTF-8.
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

  /** 32 bits, big-endian, as in ids. */
  word(value: number): void {
    this.#view.setInt32(this.at, value);
    this.at += 4;
  }

  /** 32 bits, little-endian, as in protobuf. */
  fixed32(value: number): void {
    this.#view.setUint32(this.at, value, true);
    this.at += 4;
  }

  /** Writes a time as nanoseconds since the Unix epoch, in eight bytes: whole milliseconds, and nanoseconds below a million. */
  time(wholeMs: number, nanos: number): void {
    // Split at 2^16, because the product exceeds the exact range of a number.
    const high = Math.floor(wholeMs / 65_536) * 1e6;
    const low = (wholeMs % 65_536) * 1e6 + nanos + (high % 65_536) * 65_536;
    this.fixed32(low % uint32);
    this.fixed32(Math.floor(high / 65_536) + Math.floor(low / uint32));
  }

  double(value: number): void {
    this.#view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  /** A copy of the bytes written. */
  written(): Uint8Array {
    return Uint8Array.from(this.bytes.subarray(0, this.at));
  }
}
