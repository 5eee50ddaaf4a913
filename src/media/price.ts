/**
 * The cost of a usage: counts times rates, exact, rounded up once. BILL-10 to BILL-19;
 * docs/decisions.md "Money"; T55 (image tokens at their own rate), T56 (never 0 for lack of a tier), T57.
 */
import { assert } from "../base/assert.ts";
import { GatewayError } from "../base/errors.ts";
import { larger, type NanoUsd } from "../base/money.ts";
import { imagesPart, sumOfParts, tokensPart, type PricePart } from "../base/price-parts.ts";
import {
  isBySound,
  type ImagePrice,
  type ImageTierPrice,
  type MediaPrice,
  type VideoRate,
  type VideoRates,
} from "../catalog/index.ts";
import type { MediaUsage } from "./types.ts";

type Usage<Unit extends MediaUsage["unit"]> = Extract<MediaUsage, { unit: Unit }>;

/**
 * The price in nano-USD.
 * @throws GatewayError `unsupported_value` if the price has no rate for the requested resolution or image size
 */
export const priceMedia = (price: MediaPrice, usage: MediaUsage): NanoUsd =>
  sumOfParts(mediaParts(price, usage));

/** The parts of a charge. @throws GatewayError as `priceMedia` */
export function mediaParts(price: MediaPrice, usage: MediaUsage): readonly PricePart[] {
  switch (price.basis) {
    case "image_tokens": {
      const counts = expect(usage, "image_tokens");
      return [
        tokensPart("input_tokens", counts.inputTextTokens, price.input),
        tokensPart("input_image_tokens", counts.inputImageTokens, price.imageInput),
        tokensPart("output_tokens", counts.outputTextTokens, price.output),
        tokensPart("output_image_tokens", counts.outputImageTokens, price.imageOutput),
      ];
    }
    case "image_tiers":
      return partsOfImages(expect(usage, "images"), tierRate(price, usage), price.inputImage);
    case "images":
      return partsOfImages(expect(usage, "images"), imageRate(price, usage), price.inputImage);
    case "video_seconds": {
      const counts = expect(usage, "video_seconds");
      const rate = videoRate(price.outputSecond, counts);
      // A usage has whole microseconds (usage.ts), so nothing is rounded here.
      const millionths = BigInt(Math.round(counts.seconds * 1_000_000));
      return [
        { name: "output_video_seconds", millionths, rate, per: "second" },
        imagesPart("input_images", counts.inputImages, price.inputImage),
      ];
    }
    case "video_tokens": {
      const counts = expect(usage, "video_tokens");
      const rate = videoRate(price.outputVideoToken, counts);
      return [tokensPart("output_video_tokens", counts.tokens, rate)];
    }
  }
}

/** The field that selects one of a price's rates, and its values with a rate; undefined if every value has one. */
export function pricedValues(
  price: MediaPrice,
): { readonly field: string; readonly values: readonly string[] } | undefined {
  switch (price.basis) {
    case "video_seconds":
      return { field: "resolution", values: Object.keys(price.outputSecond) };
    case "images":
      if (typeof price.outputImage === "bigint") return undefined;
      return { field: "image_size", values: Object.keys(price.outputImage) };
    case "video_tokens":
      if (typeof price.outputVideoToken === "bigint" || isBySound(price.outputVideoToken))
        return undefined;
      return { field: "resolution", values: Object.keys(price.outputVideoToken) };
    // Checked to be complete when the configuration is read, or without tiers.
    case "image_tiers":
    case "image_tokens":
      return undefined;
  }
}

function expect<Unit extends MediaUsage["unit"]>(usage: MediaUsage, unit: Unit): Usage<Unit> {
  assert(usage.unit === unit, `a price of ${unit} cannot price ${usage.unit}`);
  return usage as Usage<Unit>;
}

const partsOfImages = (usage: Usage<"images">, output: NanoUsd, input: NanoUsd) => [
  imagesPart("output_images", usage.outputImages, output),
  imagesPart("input_images", usage.inputImages, input),
];

function rateOf<Rate>(rates: Readonly<Record<string, Rate>>, tier: string, param: string): Rate {
  const rate = Object.hasOwn(rates, tier) ? rates[tier] : undefined;
  if (rate !== undefined) return rate;
  const message = `${param}: ${tier} has no price here; ${Object.keys(rates).join(", ")} have.`;
  throw new GatewayError("unsupported_value", message, { param });
}

/** The rate of a video by its resolution, then by whether it has sound. */
function videoRate(
  rates: VideoRate | VideoRates,
  { resolution = "", silent }: Pick<Usage<"video_tokens">, "resolution" | "silent">,
): NanoUsd {
  const isOfAll = typeof rates === "bigint" || isBySound(rates);
  const rate = isOfAll ? rates : rateOf(rates, resolution, "resolution");
  if (typeof rate === "bigint") return rate;
  return silent === true ? rate.silent : rate.sound;
}

/** A quality without a price of its own (`high`, which the upstream refuses) is reserved at the most expensive rate. */
function tierRate({ outputImage }: ImageTierPrice, usage: MediaUsage): NanoUsd {
  const { quality = "", imageSize = "" } = expect(usage, "images");
  const sizes = Object.hasOwn(outputImage, quality)
    ? [outputImage[quality]!]
    : Object.values(outputImage);
  return sizes.map((rates) => rateOf(rates, imageSize, "image_size")).reduce(larger);
}

function imageRate({ outputImage }: ImagePrice, usage: MediaUsage): NanoUsd {
  if (typeof outputImage === "bigint") return outputImage;
  return rateOf(outputImage, expect(usage, "images").imageSize ?? "", "image_size");
}
