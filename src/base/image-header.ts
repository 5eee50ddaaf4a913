/**
 * What a picture is, read from its first bytes: format, declared size, transparency. Nothing is decoded, so a picture that would
 * unpack to gigabytes costs nothing. Names and Content-Types of uploads are never believed. Spec: "POST /v1/images/edits".
 */

export interface ImageHeader {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
  readonly width: number;
  readonly height: number;
  /** Whether the format's header says that pixels can be transparent. */
  readonly hasAlpha: boolean;
}

/** `incomplete`: more bytes are needed to tell. `invalid`: no PNG, JPEG or WebP, or a broken one. */
export type HeaderReading = ImageHeader | "incomplete" | "invalid";

const pngSignature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** Reads the header of a PNG, JPEG or WebP file of which `bytes` are the first. */
export function readImageHeader(bytes: Buffer): HeaderReading {
  if (startsLike(bytes, pngSignature)) return readPng(bytes);
  if (startsLike(bytes, Buffer.from([0xff, 0xd8, 0xff]))) return readJpeg(bytes);
  if (startsLike(bytes, Buffer.from("RIFF"))) return readWebp(bytes);
  return "invalid";
}

/** True as long as the bytes that are there agree. */
function startsLike(bytes: Buffer, magic: Buffer): boolean {
  const length = Math.min(bytes.length, magic.length);
  return bytes.subarray(0, length).equals(magic.subarray(0, length));
}

function sized(header: ImageHeader): HeaderReading {
  return header.width > 0 && header.height > 0 ? header : "invalid";
}

const pngColorTypes = new Set([0, 2, 3, 4, 6]);

/** ISO/IEC 15948: IHDR comes first; a tRNS chunk, which makes a palette or a colour transparent, before IDAT. */
function readPng(bytes: Buffer): HeaderReading {
  if (bytes.length < 33) return "incomplete";
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || bytes.readUInt32BE(8) !== 13) return "invalid";
  const colorType = bytes[25]!;
  if (!pngColorTypes.has(colorType)) return "invalid";
  const hasAlpha = colorType >= 4 || pngTransparency(bytes);
  if (hasAlpha === "incomplete") return "incomplete";
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  return sized({ mediaType: "image/png", width, height, hasAlpha });
}

function pngTransparency(bytes: Buffer): boolean | "incomplete" {
  for (let at = 33; at + 8 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "tRNS") return true;
    if (type === "IDAT" || type === "IEND") return false;
  }
  return "incomplete";
}

const tables = new Set([0xc4, 0xc8, 0xcc]);
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && !tables.has(marker);
const standsAlone = (marker: number): boolean =>
  marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

/** ITU-T T.81: segments, each with its length, until the frame header; nothing but fill bytes between them. */
function readJpeg(bytes: Buffer): HeaderReading {
  let at = 2;
  for (;;) {
    if (at + 2 > bytes.length) return "incomplete";
    if (bytes[at] !== 0xff) return "invalid";
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (standsAlone(marker)) {
      at += 2;
      continue;
    }
    // The picture's data, or its end, without a frame.
    if (marker === 0xda || marker === 0xd9 || marker === 0x00) return "invalid";
    if (at + 4 > bytes.length) return "incomplete";
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return "invalid";
    if (isFrame(marker)) return jpegFrame(bytes.subarray(at + 4));
    at += 2 + length;
  }
}

function jpegFrame(bytes: Buffer): HeaderReading {
  if (bytes.length < 5) return "incomplete";
  const [height, width] = [bytes.readUInt16BE(1), bytes.readUInt16BE(3)];
  return sized({ mediaType: "image/jpeg", width, height, hasAlpha: false });
}

/** RFC 9649: a lossy, a lossless or an extended file, told by its first chunk. */
function readWebp(bytes: Buffer): HeaderReading {
  if (bytes.length < 30) return "incomplete";
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
