/** Making, changing and reading real pictures. sharp is loaded when the first one is wanted. */
import { createHash } from "node:crypto";
import type { Sharp, SharpInput, SharpOptions } from "sharp";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Encoding {
  readonly format: "png" | "jpeg" | "webp";
  /** From 0 to 100; png has none. */
  readonly quality: number;
}

export interface Picture {
  readonly bytes: Buffer;
  readonly size: Size;
  /** Some pixel is not opaque. */
  readonly transparent: boolean;
}

export interface PictureInfo extends Size {
  /** png, jpeg, webp, gif, ... */
  readonly format: string;
  readonly hasAlpha: boolean;
}

/** A picture whose start could be read, but not the rest. */
export class UnreadablePicture extends Error {}

/** Above this a picture is a bomb. */
const pixelsMax = 64_000_000;

async function open(source: SharpInput | undefined, options: SharpOptions = {}): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  const bounded = { limitInputPixels: pixelsMax, ...options };
  return source === undefined ? sharp(bounded) : sharp(source, bounded);
}

/** What a file, or bytes, are as a picture; undefined when they are none. Only the start is read. */
export async function readPicture(source: SharpInput): Promise<PictureInfo | undefined> {
  try {
    const { width, height, format, hasAlpha } = await (await open(source)).metadata();
    return { width, height, format, hasAlpha };
  } catch {
    return undefined;
  }
}

/** The bytes in a base64 data URL; undefined for other addresses. */
export function bytesOfDataUrl(address: string): Buffer | undefined {
  if (!address.startsWith("data:")) return undefined;
  return Buffer.from(address.slice(address.indexOf(",") + 1), "base64");
}

/** The size of the picture in a data URL; undefined when it is elsewhere, or no picture. */
export async function sizeOfDataUrl(address: string): Promise<Size | undefined> {
  const bytes = bytesOfDataUrl(address);
  return bytes && readPicture(bytes);
}

interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

/** The colour of some words, the same on every run. None is close to black or white. */
export function colourOf(words: string): Colour {
  const seed = createHash("sha256").update(words).digest().readUInt32BE();
  const part = (shift: number) => 40 + (((seed >>> shift) & 0xff) * 176) / 256;
  return { r: Math.round(part(0)), g: Math.round(part(8)), b: Math.round(part(16)) };
}

const finished = async (picture: Sharp, { format, quality }: Encoding): Promise<Buffer> => {
  switch (format) {
    case "png":
      return picture.png({ compressionLevel: 4 }).toBuffer();
    case "jpeg":
      return picture.jpeg({ quality: Math.max(1, quality) }).toBuffer();
    case "webp":
      return picture.webp({ quality: Math.max(1, quality), effort: 1 }).toBuffer();
  }
};

export interface Painting {
  readonly size: Size;
  readonly colour: Colour;
  /** The middle is painted, the rest is not there. */
  readonly transparent: boolean;
}

/** One pixel, copied to the size: what sharp creates in a colour is the same to the last bit, and takes up to three times as long. */
async function plain({ width, height }: Size, { r, g, b }: Colour): Promise<Sharp> {
  const pixel = await open(Buffer.from([r, g, b]), { raw: { width: 1, height: 1, channels: 3 } });
  return pixel.extend({ right: width - 1, bottom: height - 1, extendWith: "copy" });
}

/** A picture of one colour. */
export async function paint(painting: Painting, encoding: Encoding): Promise<Picture> {
  const { size, colour, transparent } = painting;
  if (!transparent)
    return { bytes: await finished(await plain(size, colour), encoding), size, transparent };
  const nothing = { ...colour, alpha: 0 };
  const middle = {
    width: Math.max(1, Math.floor(size.width / 2)),
    height: Math.max(1, Math.floor(size.height / 2)),
  };
  const left = Math.floor((size.width - middle.width) / 2);
  const top = Math.floor((size.height - middle.height) / 2);
  const inner = await open(undefined, { create: { ...middle, channels: 4, background: colour } });
  const framed = inner.extend({
    left,
    top,
    right: size.width - middle.width - left,
    bottom: size.height - middle.height - top,
    background: nothing,
  });
  return { bytes: await finished(framed, encoding), size, transparent };
}

export interface Edit {
  readonly source: SharpInput;
  /** Where its alpha is 0 the source is painted over, and nowhere else; without one everything is tinted. */
  readonly mask: SharpInput | undefined;
  readonly size: Size;
  readonly colour: Colour;
  /** Transparent pixels may stay. */
  readonly mayBeTransparent: boolean;
}

/**
 * The source with the edit in it. Pixels outside the mask stay as they are, to the last bit in png.
 * @throws UnreadablePicture
 */
export async function edit(change: Edit, encoding: Encoding): Promise<Picture> {
  const { size, colour } = change;
  const pixels = await rawPixels(change.source, size, "cubic");
  const mask =
    change.mask === undefined ? undefined : await rawPixels(change.mask, size, "nearest");
  let isOpaque = true;
  for (let at = 0; at < pixels.length; at += 4) {
    if (mask === undefined) {
      pixels[at] = (pixels[at]! + colour.r) >> 1;
      pixels[at + 1] = (pixels[at + 1]! + colour.g) >> 1;
      pixels[at + 2] = (pixels[at + 2]! + colour.b) >> 1;
    } else if (mask[at + 3] === 0) {
      pixels[at] = farFrom(pixels[at]!, colour.r);
      pixels[at + 1] = farFrom(pixels[at + 1]!, colour.g);
      pixels[at + 2] = farFrom(pixels[at + 2]!, colour.b);
      pixels[at + 3] = 255;
    }
    isOpaque &&= pixels[at + 3] === 255;
  }
  const transparent = !isOpaque && change.mayBeTransparent;
  const raw = await open(pixels, { raw: { ...size, channels: 4 } });
  // What is opaque flattens to itself, at the cost of half a picture.
  if (isOpaque) raw.removeAlpha();
  else if (!transparent) raw.flatten({ background: "white" });
  return { bytes: await finished(raw, encoding), size, transparent };
}

/** The colour, unless what is there is already close to it: a painted pixel is seen to be painted. */
const farFrom = (present: number, wanted: number): number =>
  Math.abs(present - wanted) >= 32 ? wanted : (wanted + 128) % 256;

async function rawPixels(
  source: SharpInput,
  { width, height }: Size,
  kernel: "cubic" | "nearest",
): Promise<Buffer> {
  try {
    const picture = await open(source);
    const info = await picture.metadata();
    const fits = info.width === width && info.height === height;
    const sized = fits ? picture : picture.resize(width, height, { fit: "fill", kernel });
    return await sized.toColourspace("srgb").ensureAlpha().raw({ depth: "uchar" }).toBuffer();
  } catch (error) {
    throw new UnreadablePicture("The image cannot be decoded.", { cause: error });
  }
}
