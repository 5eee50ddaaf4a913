/** Sizes of images: the grammar and the limits of custom ones. Requirements: IMG, LIM. */

const longSideMax = 3840;
const areaMax = 3840 * 2160;
const step = 16;
const ratioMax = 3;

/** Width and height of `<width>x<height>`; undefined for any other text. */
export function parseSize(size: string): readonly [width: number, height: number] | undefined {
  const match = /^([1-9]\d{0,5})x([1-9]\d{0,5})$/.exec(size);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

/**
 * The reason why a custom size is not allowed, as a clause; undefined if it is. Both sides must be divisible by 16, ratio 1:3 to 3:1,
 * long side at most 3840, area at most 3840x2160, either orientation (IMG-08 to IMG-11).
 */
export function sizeFault(size: string): string | undefined {
  const sides = parseSize(size);
  if (!sides) return "must be <width>x<height>";
  const [width, height] = sides;
  const [long, short] = width > height ? [width, height] : [height, width];
  if (width % step !== 0 || height % step !== 0) return "must have sides divisible by 16";
  if (long > short * ratioMax) return "must have a ratio from 1:3 to 3:1";
  if (long > longSideMax || long * short > areaMax) return "must be at most 3840x2160 or 2160x3840";
  return undefined;
}
