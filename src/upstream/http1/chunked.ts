/**
 * Decodes the chunked transfer coding, wherever the reads are cut, with one state for each place between contents. Pure except for the
 * given buffer: chunks of one read are moved together in place, so that a read yields one piece of content. RFC 9112 section 7.1.
 */
import { isFieldValue, isToken } from "./head.ts";

/** The longest size line with its extensions, and all trailers together: bounds useless bytes. */
const lineBytesMax = 16 * 1024;
/** Up to 2^48 bytes, which are counted exactly. */
const sizeDigitsMax = 12;

const tab = 9;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const semicolon = 59;

/** States: the meaning of the next byte. */
const sizeDigit = 0;
const sizeBlank = 1;
const extension = 2;
const sizeLineFeed = 3;
const data = 4;
const dataReturn = 5;
const dataLineFeed = 6;
const trailer = 7;
const trailerLineFeed = 8;
const ended = 9;
const faulty = 10;

/** Reads chunked bodies one after the other. */
export class ChunkedReader {
  /** The content of the last `take` in the buffer: `[from, to)`. */
  from = 0;
  to = 0;
  /** The index in the buffer where the body ended; -1 before it has. */
  end = -1;
  /** The reason why the bytes after the content cannot be read; undefined if all is well. */
  fault: string | undefined;
  #state = sizeDigit;
  /** Bytes of the chunk that are missing. */
  #size = 0;
  /** Bytes of this size line, or of the trailers. */
  #lineBytes = 0;
  #line = "";

  /** Begins another body. */
  begin(): void {
    this.end = -1;
    this.fault = undefined;
    this.#state = sizeDigit;
    this.#size = 0;
    this.#lineBytes = 0;
    this.#line = "";
  }

  /** Reads the bytes `[from, to)`, and may move them. Not to be called after an end or a fault. */
  take(buffer: Buffer, from: number, to: number): void {
    this.from = from;
    this.to = from;
    let at = from;
    while (at < to && this.#state < ended) {
      if (this.#state === data) at = this.#takeData(buffer, at, to);
      else {
        this.#takeByte(buffer[at]!);
        at += 1;
      }
    }
    if (this.#state === ended) this.end = at;
  }

  #takeData(buffer: Buffer, at: number, to: number): number {
    const stop = Math.min(to, at + this.#size);
    if (this.to === this.from) {
      this.from = at;
      this.to = stop;
    } else {
      buffer.copyWithin(this.to, at, stop);
      this.to += stop - at;
    }
    this.#size -= stop - at;
    if (this.#size === 0) this.#state = dataReturn;
    return stop;
  }

  #takeByte(byte: number): void {
    switch (this.#state) {
      case sizeDigit:
        return this.#takeSize(byte);
      case sizeBlank:
      case extension:
        return this.#takeExtension(byte);
      case sizeLineFeed:
        if (byte !== lineFeed) return this.#refuse("a size line that does not end in CRLF");
        this.#lineBytes = 0;
        this.#line = "";
        this.#state = this.#size === 0 ? trailer : data;
        return;
      case dataReturn:
        if (byte !== carriageReturn) return this.#refuse("a chunk longer than its size");
        this.#state = dataLineFeed;
        return;
      case dataLineFeed:
        if (byte !== lineFeed) return this.#refuse("a chunk longer than its size");
        this.#lineBytes = 0;
        this.#state = sizeDigit;
        return;
      case trailer:
        return this.#takeTrailer(byte);
      default:
        if (byte !== lineFeed) return this.#refuse("a trailer that does not end in CRLF");
        return this.#endTrailer();
    }
  }

  #takeSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      this.#lineBytes += 1;
      this.#size = this.#size * 16 + digit;
      if (this.#lineBytes > sizeDigitsMax) this.#refuse("a chunk of an impossible size");
    } else if (this.#lineBytes === 0) this.#refuse("a chunk without a size");
    else {
      this.#state = sizeBlank;
      this.#takeExtension(byte);
    }
  }

  /** Reads the bytes after the size: blanks, then the end of the line, or extensions, which are ignored. */
  #takeExtension(byte: number): void {
    this.#lineBytes += 1;
    if (byte === carriageReturn) this.#state = sizeLineFeed;
    else if (this.#lineBytes > lineBytesMax) this.#refuse("a size line without an end");
    else if (this.#state === extension) {
      if (byte < space && byte !== tab) this.#refuse("a control character in a size line");
    } else if (byte === semicolon) this.#state = extension;
    else if (byte !== space && byte !== tab) this.#refuse("a chunk whose size is no number");
  }

  #takeTrailer(byte: number): void {
    this.#lineBytes += 1;
    if (byte === carriageReturn) this.#state = trailerLineFeed;
    else if (this.#lineBytes > lineBytesMax) this.#refuse("trailers without an end");
    else this.#line += String.fromCharCode(byte);
  }

  /** A trailer is checked and dropped; an empty line ends the body. */
  #endTrailer(): void {
    const line = this.#line;
    this.#lineBytes += 1;
    this.#line = "";
    this.#state = line === "" ? ended : trailer;
    if (line === "") return;
    const colon = line.indexOf(":");
    if (!isToken(line.slice(0, Math.max(0, colon))) || !isFieldValue(line.slice(colon + 1)))
      this.#refuse("a trailer that is no header");
  }

  #refuse(fault: string): void {
    this.fault = fault;
    this.#state = faulty;
  }
}

/** The value of a hexadecimal digit, or -1. */
function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
