/**
 * Reads format, declared size and transparency of a picture from its first bytes. Decodes nothing, so a picture that would unpack to
 * gigabytes costs nothing; skips metadata before the size. Never trusts names and Content-Types of uploads. Requirements: EDIT1, EDIT2.
 */

import { assert } from "./assert.ts";

export interface ImageHeader {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
  readonly width: number;
  readonly height: number;
  /** True if the format's header says that pixels can be transparent. */
  readonly hasAlpha: boolean;
  /** Present if its Exif data says that it is shown turned by a quarter, so with width and height swapped. */
  readonly isTurned?: true;
}

/** `incomplete`: more bytes are needed. `invalid`: no PNG, JPEG or WebP, or a broken one. */
export type HeaderReading = ImageHeader | "incomplete" | "invalid";

/** A parser's next request: to read or to skip a number of bytes. */
type Step = { readonly take: number } | { readonly skip: number };
type Parser = Generator<Step, ImageHeader | "invalid", Buffer>;

/** Reads the header of a PNG, JPEG or WebP file from its first bytes. */
export const readImageHeader = (bytes: Buffer): HeaderReading =>
  new ImageHeaderReader().push(bytes);

/** The properties of a generated picture. Transparency is not included: it may stand far behind. */
export type ProducedPicture = Omit<ImageHeader, "hasAlpha" | "isTurned">;

/** Enough for the header of nearly every file. */
const headCharacters = 65_536;

/**
 * Reads format and size of a picture in base64. In a PNG they come first, so metadata after them does not matter, which vendors make long.
 * In other formats, the rare files that begin with long metadata are decoded whole.
 */
export function readProducedPicture(base64: string): ProducedPicture | "incomplete" | "invalid" {
  const head = Buffer.from(base64.slice(0, headCharacters), "base64");
  const reading = readImageHeader(head);
  if (reading !== "incomplete") return reading;
  return pngSize(head) ?? readImageHeader(Buffer.from(base64, "base64"));
}

/** The signature and IHDR. */
const pngStartBytes = 33;

/** Returns the size of a PNG whose start was not found to be invalid. */
function pngSize(head: Buffer): ProducedPicture | undefined {
  if (head.length < pngStartBytes || formatOf(head.subarray(0, startBytes)) !== "image/png")
    return undefined;
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  return width > 0 && height > 0 ? { mediaType: "image/png", width, height } : undefined;
}

const nothing = Buffer.alloc(0);

/** Reads the header of a file that comes in chunks; holds only a few bytes of it. */
export class ImageHeaderReader {
  readonly #parser = parse();
  #step: Step;
  /** Bytes of an unfinished `take`. */
  #held = nothing;
  #toSkip = 0;
  #reading: HeaderReading = "incomplete";

  constructor() {
    this.#step = this.#next(nothing);
  }

  /** Returns the result after `bytes` too are read. */
  push(bytes: Buffer): HeaderReading {
    let rest = bytes;
    while (this.#reading === "incomplete") {
      if ("skip" in this.#step) {
        const skipped = Math.min(this.#toSkip, rest.length);
        this.#toSkip -= skipped;
        rest = rest.subarray(skipped);
        if (this.#toSkip > 0) break;
        this.#step = this.#next(nothing);
        continue;
      }
      const missing = this.#step.take - this.#held.length;
      const piece = Buffer.concat([this.#held, rest.subarray(0, missing)]);
      if (rest.length < missing) {
        this.#held = piece;
        break;
      }
      rest = rest.subarray(missing);
      this.#held = nothing;
      this.#step = this.#next(piece);
    }
    return this.#reading;
  }

  #next(taken: Buffer): Step {
    const { done, value } = this.#parser.next(taken);
    if (done === true) {
      this.#reading = value;
      return { take: 0 };
    }
    if ("skip" in value) this.#toSkip = value.skip;
    return value;
  }
}

/** No picture has so many parts before its size; this limits the cost of a file of nothing but parts. */
const partsMax = 65_536;

function sized(header: ImageHeader): ImageHeader | "invalid" {
  return header.width > 0 && header.height > 0 ? header : "invalid";
}

const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);
const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const riff = Buffer.from("RIFF");

/** Enough to distinguish the three formats. */
const startBytes = 3;

function* parse(): Parser {
  const start = yield { take: startBytes };
  switch (formatOf(start)) {
    case "image/jpeg":
      return yield* parseJpeg();
    case "image/png":
      return yield* parsePng(start);
    case "image/webp":
      return yield* parseWebp(start);
    case undefined:
      return "invalid";
  }
}

function formatOf(start: Buffer): ImageHeader["mediaType"] | undefined {
  if (start.equals(jpegStart)) return "image/jpeg";
  if (start.equals(pngSignature.subarray(0, startBytes))) return "image/png";
  return start.equals(riff.subarray(0, startBytes)) ? "image/webp" : undefined;
}

/** Returns the format of a file whose header is `incomplete`, from its first bytes; there must be three. */
export function imageTypeOf(bytes: Buffer): ImageHeader["mediaType"] {
  const format = formatOf(bytes.subarray(0, startBytes));
  assert(format !== undefined, "a file of another format is invalid, not incomplete");
  return format;
}

const pngColorTypes = new Set([0, 2, 3, 4, 6]);

/** ISO/IEC 15948: IHDR comes first; a tRNS chunk, which makes a palette or a colour transparent, before IDAT. */
function* parsePng(start: Buffer): Parser {
  const signature = Buffer.concat([start, yield { take: 5 }]);
  if (!signature.equals(pngSignature)) return "invalid";
  const ihdr = yield { take: 25 };
  if (ihdr.toString("latin1", 4, 8) !== "IHDR" || ihdr.readUInt32BE(0) !== 13) return "invalid";
  const colorType = ihdr[17]!;
  if (!pngColorTypes.has(colorType)) return "invalid";
  const [width, height] = [ihdr.readUInt32BE(8), ihdr.readUInt32BE(12)];
  const header = { mediaType: "image/png", width, height } as const;
  if (colorType >= 4) return sized({ ...header, hasAlpha: true });
  for (let parts = 0; parts < partsMax; parts += 1) {
    const chunk = yield { take: 8 };
    const type = chunk.toString("latin1", 4, 8);
    if (type === "tRNS") return sized({ ...header, hasAlpha: true });
    if (type === "IDAT" || type === "IEND") return sized({ ...header, hasAlpha: false });
    // Skip its data and its checksum.
    yield { skip: chunk.readUInt32BE(0) + 4 };
  }
  return "invalid";
}

const tables = new Set([0xc4, 0xc8, 0xcc]);
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && !tables.has(marker);
const standsAlone = (marker: number): boolean =>
  marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);
/** The marker of the picture's data or end: no frame came before it. */
const endsHeader = (marker: number): boolean =>
  marker === 0xda || marker === 0xd9 || marker === 0x00;

const exifMarker = 0xe1;
/** The first tags of the Exif data: the orientation is among them. */
const exifBytesMax = 1_024;
const orientationTag = 0x0112;

/** True if a segment is Exif data with an orientation of a quarter turn: 5 to 8. Anything unexpected is none. */
function isTurned(segment: Buffer): boolean {
  const tiff = segment.subarray(6);
  if (segment.toString("latin1", 0, 6) !== "Exif\0\0" || tiff.length < 10) return false;
  const isLittle = tiff.toString("latin1", 0, 2) === "II";
  const number = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const first = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (first + 2 > tiff.length) return false;
  const tags = Math.min(number(first), Math.floor((tiff.length - first - 2) / 12));
  for (let at = first + 2; at < first + 2 + tags * 12; at += 12) {
    if (number(at) === orientationTag) return number(at + 8) >= 5 && number(at + 8) <= 8;
  }
  return false;
}

/** ITU-T T.81: segments with their lengths up to the frame header, and only fill bytes between them. */
function* parseJpeg(): Parser {
  let turned: { readonly isTurned?: true } = {};
  // The first byte of a marker has been read.
  for (let parts = 0; parts < partsMax; parts += 1) {
    const marker = (yield { take: 1 })[0]!;
    if (marker === 0xff) continue;
    if (endsHeader(marker)) return "invalid";
    if (!standsAlone(marker)) {
      const length = (yield { take: 2 }).readUInt16BE();
      if (length < 2) return "invalid";
      if (isFrame(marker)) {
        const frame = yield { take: 5 };
        const [height, width] = [frame.readUInt16BE(1), frame.readUInt16BE(3)];
        return sized({ mediaType: "image/jpeg", width, height, hasAlpha: false, ...turned });
      }
      const read = marker === exifMarker ? Math.min(length - 2, exifBytesMax) : 0;
      if (read > 0 && isTurned(yield { take: read })) turned = { isTurned: true };
      yield { skip: length - 2 - read };
    }
    if ((yield { take: 1 })[0] !== 0xff) return "invalid";
  }
  return "invalid";
}

/** RFC 9649: a lossy, a lossless or an extended file, recognized by its first chunk. */
function* parseWebp(start: Buffer): Parser {
  const bytes = Buffer.concat([start, yield { take: 27 }]);
  if (!bytes.subarray(0, 4).equals(riff)) return "invalid";
  if (bytes.toString("latin1", 8, 12) !== "WEBP") return "invalid";
  const mediaType = "image/webp";
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ": {
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return "invalid";
      const [width, height] = [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
      return sized({ mediaType, width, height, hasAlpha: false });
    }
    case "VP8L": {
      if (bytes[20] !== 0x2f) return "invalid";
      const bits = bytes.readUInt32LE(21);
      const [width, height] = [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
      return { mediaType, width, height, hasAlpha: ((bits >>> 28) & 1) === 1 };
    }
    case "VP8X": {
      const [width, height] = [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
      return { mediaType, width, height, hasAlpha: (bytes[20]! & 0x10) !== 0 };
    }
    default:
      return "invalid";
  }
}
