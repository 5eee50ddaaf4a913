/**
 * The smallest real H.264 there is (ITU-T H.264, Baseline): one still frame of a single colour, then frames that
 * repeat it. A frame costs a few bytes, so that fifteen seconds of 1080p are made in milliseconds.
 */
import { BitWriter } from "./bits.ts";

export interface Picture {
  /** Even numbers of pixels. */
  readonly width: number;
  readonly height: number;
  readonly colour: Colour;
}

/** Steps away from middle grey, each from -20 to 20: luma, and the two chroma parts. */
export interface Colour {
  readonly luma: number;
  readonly blue: number;
  readonly red: number;
}

const macroblock = 16;
const baseline = 66;
/** Level by macroblocks in a frame (table A-1), at 24 frames a second. */
const levels: readonly (readonly [macroblocks: number, level: number])[] = [
  [1620, 30],
  [3600, 31],
  [8192, 40],
  [36_864, 51],
];
/** Bits of `frame_num`; it counts modulo 16. */
const frameNumberBits = 4;
/** At this quantiser a step of luma is 2.5 and one of chroma 4 of 255. */
const quantiser = 36;

const unitTypes = { slice: 0x61, keySlice: 0x65, sequence: 0x67, picture: 0x68 } as const;

const inMacroblocks = (pixels: number) => Math.ceil(pixels / macroblock);
const countMacroblocks = ({ width, height }: Picture) =>
  inMacroblocks(width) * inMacroblocks(height);

/** A NAL unit: its type, then the content with the bytes that keep it from looking like a start code (7.4.1). */
function unit(type: number, content: BitWriter): Buffer {
  const raw = content.bits(1, 1).bytes();
  const escaped = [type];
  let zeros = 0;
  for (const byte of raw) {
    if (zeros >= 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(escaped);
}

/** The sequence parameter set (7.3.2.1.1): profile, level, size, and how much of the last macroblocks is cut off. */
export function sequenceSet(picture: Picture): Buffer {
  const columns = inMacroblocks(picture.width);
  const rows = inMacroblocks(picture.height);
  const right = (columns * macroblock - picture.width) / 2;
  const bottom = (rows * macroblock - picture.height) / 2;
  const cropped = right > 0 || bottom > 0;
  const bits = new BitWriter()
    .bits(baseline, 8)
    .bits(0xc0, 8) // fits the constrained profile too
    .bits(levelOf(picture), 8)
    .unsigned(0) // id
    .unsigned(frameNumberBits - 4)
    .unsigned(2) // frames are shown in the order they are decoded
    .unsigned(1) // one reference frame
    .bits(0, 1) // no gaps in frame numbers
    .unsigned(columns - 1)
    .unsigned(rows - 1)
    .bits(1, 1) // frames, no fields
    .bits(1, 1) // direct_8x8_inference
    .bits(cropped ? 1 : 0, 1);
  if (cropped) bits.unsigned(0).unsigned(right).unsigned(0).unsigned(bottom);
  return unit(unitTypes.sequence, bits.bits(0, 1)); // no usability information
}

function levelOf(picture: Picture): number {
  const count = countMacroblocks(picture);
  return (levels.find(([most]) => count <= most) ?? levels.at(-1)!)[1];
}

/** The picture parameter set (7.3.2.2): CAVLC, one slice group, deblocking told in each slice. */
export function pictureSet(): Buffer {
  const bits = new BitWriter()
    .unsigned(0) // id
    .unsigned(0) // sequence
    .bits(0, 2) // CAVLC; no picture order in slices
    .unsigned(0) // one slice group
    .unsigned(0)
    .unsigned(0) // one reference each
    .bits(0, 3) // no weighted prediction
    .signed(quantiser - 26)
    .signed(0)
    .signed(0)
    .bits(0b100, 3); // deblocking control in slices; no constrained intra, no redundant pictures
  return unit(unitTypes.picture, bits);
}

const noDeblocking = 1;

/**
 * The first frame. Its first macroblock carries the colour as three DC levels; every other one predicts its mean
 * from its neighbours and adds nothing.
 */
export function keyFrame(picture: Picture): Buffer {
  const bits = new BitWriter()
    .unsigned(0) // first macroblock
    .unsigned(7) // all slices are I
    .unsigned(0) // picture set
    .bits(0, frameNumberBits)
    .unsigned(0) // IDR id
    .bits(0, 2) // keeps nothing for long
    .signed(0) // quantiser as in the picture set
    .unsigned(noDeblocking);
  const { luma, blue, red } = picture.colour;
  bits.unsigned(7).unsigned(0).signed(0); // Intra16x16, mean prediction, chroma DC; table 7-11
  level(bits, luma, { none: "1", one: "000101" });
  level(bits, blue, { none: "01", one: "000111" });
  level(bits, red, { none: "01", one: "000111" });
  // Intra16x16, mean prediction, no residual: mb_type 3, chroma mode 0, quantiser as before, no luma DC.
  const plain = new BitWriter().unsigned(3).unsigned(0).signed(0).text("1").bytes()[0]!;
  for (let left = countMacroblocks(picture) - 1; left > 0; left -= 1) bits.bits(plain, 8);
  return unit(unitTypes.keySlice, bits);
}

/** A block with at most one coefficient, its first (9.2): `none` and `one` are the coeff_token of the block's kind. */
function level(bits: BitWriter, value: number, token: { none: string; one: string }): void {
  // Levels of 1 would be coded as trailing ones; a step that small is not worth the case.
  if (Math.abs(value) < 2) {
    bits.text(token.none);
    return;
  }
  bits.text(token.one);
  const code = (value > 0 ? 2 * value - 2 : -2 * value - 1) - 2;
  if (code < 14) bits.bits(1, code + 1);
  else if (code < 30) bits.bits(1, 15).bits(code - 14, 4);
  else bits.bits(1, 16).bits(code - 30, 12);
  bits.text("1"); // no zeros before it
}

/** The frame at `index` (from 1 on): every macroblock is skipped, so it shows what the one before it showed. */
export function repeatFrame(picture: Picture, index: number): Buffer {
  const bits = new BitWriter()
    .unsigned(0) // first macroblock
    .unsigned(5) // all slices are P
    .unsigned(0) // picture set
    .bits(index % 2 ** frameNumberBits, frameNumberBits)
    .bits(0, 3) // references as they are, in order, and no marking of our own
    .signed(0)
    .unsigned(noDeblocking)
    .unsigned(countMacroblocks(picture));
  return unit(unitTypes.slice, bits);
}
