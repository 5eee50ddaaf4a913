/** Writing protobuf, as far as spans need it: one buffer, sizes known before anything is written. */

/** Bytes that a number takes. */
export function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

/** Shorter ASCII texts are written character by character, without a call into C++. */
const shortMax = 48;
const bytesFirst = 65_536;

export class ProtobufWriter {
  bytes = Buffer.allocUnsafe(bytesFirst);
  at = 0;

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

  /** Hexadecimal digits as bytes, behind their length. */
  hex(digits: string): void {
    this.bytes[this.at++] = digits.length / 2;
    this.at += this.bytes.write(digits, this.at, "hex");
  }

  copy(bytes: Buffer): void {
    bytes.copy(this.bytes, this.at);
    this.at += bytes.length;
  }

  /** Seconds and nanoseconds as nanoseconds, in eight bytes. */
  time([seconds, nanos]: readonly [number, number]): void {
    // Split at 2^32, because the product is above what a number holds exactly.
    const low = (seconds % 65_536) * 1e9 + nanos;
    const high = Math.floor(seconds / 65_536) * 1e9;
    const total = (high % 65_536) * 65_536 + (low % 4_294_967_296);
    const carry = Math.floor(total / 4_294_967_296) + Math.floor(low / 4_294_967_296);
    this.bytes.writeUInt32LE(total % 4_294_967_296, this.at);
    this.bytes.writeUInt32LE(Math.floor(high / 65_536) + carry, this.at + 4);
    this.at += 8;
  }

  double(value: number): void {
    this.at = this.bytes.writeDoubleLE(value, this.at);
  }
}
