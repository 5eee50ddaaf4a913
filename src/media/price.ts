/**
 * What a usage costs: counts times rates, exactly, rounded up once. BILL-10 to BILL-19;
 * docs/decisions.md "Money"; T55 (image tokens at their own rate), T56 (never 0 for want of a tier), T57.
 */
import { assert } from "../base/assert.ts";
import { GatewayError } from "../base/errors.ts";
import type { NanoUsd } from "../base/money.ts";
import type { ImagePrice, ImageTierPrice, MediaPrice } from "../catalog/index.ts";
import type { MediaUsage } from "./types.ts";

type Usage<Unit extends MediaUsage["unit"]> = Extract<MediaUsage, { unit: Unit }>;

const million = 1_000_000n;
const roundUp = (millionths: bigint): NanoUsd => (millionths + million - 1n) / million;
const dearest = (rates: readonly NanoUsd[]): NanoUsd =>
  rates.reduce((left, right) => (left > right ? left : right));

/**
 * The price in nano-USD.
 * @throws GatewayError `unsupported_value` where the price has no rate for the resolution or image size asked for
 */
export function priceMedia(price: MediaPrice, usage: MediaUsage): NanoUsd {
  switch (price.basis) {
    case "image_tokens": {
      const counts = expect(usage, "image_tokens");
      return roundUp(
        BigInt(counts.inputTextTokens) * price.input +
          BigInt(counts.inputImageTokens) * price.imageInput +
          BigInt(counts.outputTextTokens) * price.output +
          BigInt(counts.outputImageTokens) * price.imageOutput,
      );
    }
    case "image_tiers":
      return priceOfImages(expect(usage, "images"), tierRate(price, usage), price.inputImage);
    case "images":
      return priceOfImages(expect(usage, "images"), imageRate(price, usage), price.inputImage);
    case "video_seconds": {
      const counts = expect(usage, "video_seconds");
      const rate = rateOf(price.outputSecond, counts.resolution, "resolution");
      // Vendors report fractions of a second; to the microsecond they are exact.
      const microseconds = BigInt(Math.round(counts.seconds * 1_000_000));
      return roundUp(microseconds * rate) + BigInt(counts.inputImages) * price.inputImage;
    }
    case "video_tokens":
      return roundUp(BigInt(expect(usage, "video_tokens").tokens) * price.outputVideoToken);
  }
}

function expect<Unit extends MediaUsage["unit"]>(usage: MediaUsage, unit: Unit): Usage<Unit> {
  assert(usage.unit === unit, `a price of ${unit} cannot price ${usage.unit}`);
  return usage as Usage<Unit>;
}

const priceOfImages = (usage: Usage<"images">, output: NanoUsd, input: NanoUsd): NanoUsd =>
  BigInt(usage.outputImages) * output + BigInt(usage.inputImages) * input;

function rateOf(rates: Readonly<Record<string, NanoUsd>>, tier: string, param: string): NanoUsd {
  const rate = Object.hasOwn(rates, tier) ? rates[tier] : undefined;
  if (rate !== undefined) return rate;
  const message = `${param}: ${tier} has no price here; ${Object.keys(rates).join(", ")} have.`;
  throw new GatewayError("unsupported_value", message, { param });
}

/** A quality without a price of its own (`high`, which the upstream refuses) is reserved at the dearest there is. */
function tierRate({ outputImage }: ImageTierPrice, usage: MediaUsage): NanoUsd {
  const { quality = "", imageSize = "" } = expect(usage, "images");
  const sizes = Object.hasOwn(outputImage, quality)
    ? [outputImage[quality]!]
    : Object.values(outputImage);
  return dearest(sizes.map((rates) => rateOf(rates, imageSize, "image_size")));
}

function imageRate({ outputImage }: ImagePrice, usage: MediaUsage): NanoUsd {
  if (typeof outputImage === "bigint") return outputImage;
  return rateOf(outputImage, expect(usage, "images").imageSize ?? "", "image_size");
}
