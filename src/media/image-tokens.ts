/**
 * The largest number of tokens of an image call: an upper bound, for the reservation and for a vendor that reports nothing.
 * An image of `high` quality has one token for each patch of 16x16 pixels and one for each row of patches; `medium` has
 * patches of 32x32, `low` of 64x64. That gives the vendor's list: 272, 1056 and 4160 for 1024x1024.
 */
import { parseSize, sizeFault } from "./sizes.ts";
import type { ImageRequest } from "./types.ts";

export interface ImageTokens {
  readonly inputTextTokens: number;
  readonly inputImageTokens: number;
  readonly outputTextTokens: number;
  readonly outputImageTokens: number;
}

const patchSide: Readonly<Record<string, number>> = { low: 64, medium: 32, high: 16 };

/** The extra tokens of a preview. */
const tokensPerPartial = 100;
/** Tokens that a vendor may add to a prompt, and tokens of text that it may write about an image. */
const framingTokens = 64;
const outputTextTokensMost = 1024;
/**
 * An input image is shrunk to at most four tiles of 512 pixels (581 tokens). With high fidelity its patches count as
 * well (6240), and some models always use high fidelity.
 */
const tokensPerInput = 8192;

function tokensOfSize(size: string, quality: string): number {
  const [width, height] = parseSize(size)!;
  const side = patchSide[quality] ?? patchSide["high"]!;
  const rows = Math.ceil(height / side);
  return Math.ceil(width / side) * rows + rows;
}

const isTier = (quality: string | undefined): quality is string =>
  quality !== undefined && Object.hasOwn(patchSide, quality);

const isLegal = (size: string | undefined): size is string =>
  size !== undefined && sizeFault(size) === undefined;

/**
 * Tokens of one output image. Uses the most expensive of `autoSizes` if the call leaves the size to the vendor, or names
 * one that the vendor will refuse.
 */
function tokensOfImage(
  { size, quality }: Pick<ImageRequest, "size" | "quality">,
  autoSizes: readonly string[],
): number {
  const sizes = isLegal(size) ? [size] : autoSizes;
  return Math.max(...sizes.map((one) => tokensOfSize(one, quality ?? "auto")));
}

/** An upper bound for `count` images. A text never has more tokens than bytes. */
export function imageTokens(
  request: ImageRequest,
  count: number,
  autoSizes: readonly string[],
): ImageTokens {
  const inputs = request.images.length + (request.mask === undefined ? 0 : 1);
  const previews = request.stream === true ? (request.partialImages ?? 0) * tokensPerPartial : 0;
  return {
    inputTextTokens: Buffer.byteLength(request.prompt) + framingTokens,
    inputImageTokens: inputs * tokensPerInput,
    outputTextTokens: count * outputTextTokensMost,
    outputImageTokens: count * tokensOfImage(request, autoSizes) + previews,
  };
}

/** How pictures were really made, as far as known: the size of each, and the quality that the vendor reported. */
export interface ProducedFormat {
  readonly sizes: readonly (string | undefined)[];
  readonly quality?: string | undefined;
}

const bytesPerTextToken = 4;

/**
 * The tokens to bill if a vendor reports nothing: `imageTokens` without upper-bound allowances. Size and quality that the call left
 * to the vendor are those of the result; unknown ones count as the most expensive (T56).
 */
export function unreportedImageTokens(
  request: ImageRequest,
  { sizes, quality }: ProducedFormat,
  autoSizes: readonly string[],
): ImageTokens {
  const most = imageTokens(request, 0, autoSizes);
  const reserved = tokensOfImage(request, autoSizes);
  const became = { ...request, quality: isTier(request.quality) ? request.quality : quality };
  const tokensOf = (size: string | undefined) =>
    isLegal(request.size) || size === undefined || parseSize(size) === undefined
      ? tokensOfImage(became, autoSizes)
      : tokensOfSize(size, became.quality ?? "auto");
  return {
    ...most,
    inputTextTokens: Math.ceil(most.inputTextTokens / bytesPerTextToken),
    outputTextTokens: 0,
    outputImageTokens: sizes.reduce(
      (sum, size) => sum + Math.min(reserved, tokensOf(size)),
      most.outputImageTokens,
    ),
  };
}
