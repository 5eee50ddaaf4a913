/**
 * The most tokens an image call can be billed by: an upper bound, for the reservation and for a vendor that reports nothing.
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

/** A preview costs this many tokens more. */
const tokensPerPartial = 100;
/** What a vendor may add of its own to a prompt, and write of its own about an image. */
const framingTokens = 64;
const outputTextTokensMost = 1024;
/**
 * An input image is shrunk to at most four tiles of 512 pixels (581 tokens), and with high fidelity its patches count as
 * well (6240). Some models have high fidelity whatever is asked for.
 */
const tokensPerInput = 8192;

function tokensOfSize(size: string, quality: string): number {
  const [width, height] = parseSize(size)!;
  const side = patchSide[quality] ?? patchSide["high"]!;
  const rows = Math.ceil(height / side);
  return Math.ceil(width / side) * rows + rows;
}

/**
 * Tokens of one output image; of the dearest of `autoSizes` where the call leaves the size to the vendor, or where it names
 * one that the vendor is left to refuse.
 */
function tokensOfImage(
  { size, quality }: Pick<ImageRequest, "size" | "quality">,
  autoSizes: readonly string[],
): number {
  const sizes = size !== undefined && sizeFault(size) === undefined ? [size] : autoSizes;
  return Math.max(...sizes.map((one) => tokensOfSize(one, quality ?? "auto")));
}

/** An upper bound for `count` images. No text has more tokens than bytes. */
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

const bytesPerTextToken = 4;

/** What is billed where a vendor reports nothing: as above, without upper-bound allowances. */
export function unreportedImageTokens(most: ImageTokens): ImageTokens {
  return {
    ...most,
    inputTextTokens: Math.ceil(most.inputTextTokens / bytesPerTextToken),
    outputTextTokens: 0,
  };
}
