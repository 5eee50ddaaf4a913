/** Writing protobuf, as far as spans need it: one buffer, sizes known before anything is written. */

/** Bytes that a number takes. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** The value of a hexadecimal digit, `0` to `9` and `a` to `f`. */
const digitOf = (code: number): number => (code < 58 ? code - 48 : code - 87);

/** Shorter ASCII texts are written character by character, without a call into C++. */
const shortMax = 48;

export class ProtobufWriter {
  bytes: Buffer;
  at = 0;

  constructor(bytesFirst = 256) {
    this.bytes = Buffer.allocUnsafeSlow(bytesFirst);
  }

  /** Makes room for so many bytes. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.at + count));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
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

  /** A text of so many bytes. */
  text(value: string, bytes: number): void {
    if (bytes > shortMax || bytes !== value.length) {
      this.at += this.bytes.write(value, this.at, bytes, "utf8");
      return;
    }
    for (let index = 0; index < bytes; index += 1)
      this.bytes[this.at + index] = value.charCodeAt(index);
    this.at += bytes;
  }

  /** Small hexadecimal digits as bytes, behind their length. */
  hex(digits: string): void {
    const { bytes } = this;
    let { at } = this;
    bytes[at++] = digits.length / 2;
    for (let index = 0; index < digits.length; index += 2)
      bytes[at++] =
        (digitOf(digits.charCodeAt(index)) << 4) | digitOf(digits.charCodeAt(index + 1));
    this.at = at;
  }

  copy(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** 32 bits, the lowest first. */
  fixed32(value: number): void {
    const { bytes, at } = this;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    this.at = at + 4;
  }

  /** Seconds and nanoseconds as nanoseconds, in eight bytes. */
  time([seconds, nanos]: readonly [number, number]): void {
    // Split at 2^32, because the product is above what a number holds exactly.
    const low = (seconds % 65_536) * 1e9 + nanos;
    const high = Math.floor(seconds / 65_536) * 1e9;
    const total = (high % 65_536) * 65_536 + (low % 4_294_967_296);
    const carry = Math.floor(total / 4_294_967_296) + Math.floor(low / 4_294_967_296);
    this.fixed32(total % 4_294_967_296);
    this.fixed32(Math.floor(high / 65_536) + carry);
  }

  double(value: number): void {
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }
}
