/** The prices of a model as `GET /v1/models` tells them: those of its first offer. MODELS-08. */
import { formatUsd, type NanoUsd } from "../base/money.ts";
import type { PriceUnit } from "../base/price-parts.ts";
import type { FixedPrice, MediaPrice, TextRates } from "../catalog/index.ts";

/** One rate; `when` names the tier it holds for, by the fields that choose it. */
export interface PricingRow {
  readonly billable: string;
  readonly unit: PriceUnit;
  readonly price_usd: string;
  readonly when?: Readonly<Record<string, string>>;
}

const row = (
  billable: string,
  unit: PricingRow["unit"],
  nano: NanoUsd,
  when?: PricingRow["when"],
): PricingRow => ({ billable, unit, price_usd: formatUsd(nano), ...(when && { when }) });

const perMillion = (billable: string, nano: NanoUsd, when?: PricingRow["when"]) =>
  row(billable, "million_tokens", nano, when);

/** Of a model that puts out vectors. */
export const embeddingPricing = (rates: TextRates) => [perMillion("input_tokens", rates.input)];

/** The rates of short calls first, then those of each tier: they hold for the whole of a call with more input (T64). */
export const textPricing = (price: FixedPrice): PricingRow[] => [
  ...ratesRows(price),
  ...(price.above ?? []).flatMap(({ inputTokens, rates }) =>
    ratesRows(rates, { input_tokens_above: String(inputTokens) }),
  ),
];

const ratesRows = (rates: TextRates, when?: PricingRow["when"]): PricingRow[] => [
  perMillion("input_tokens", rates.input, when),
  perMillion("cache_read_tokens", rates.cacheRead ?? rates.input, when),
  perMillion("cache_write_tokens", rates.cacheWrite ?? rates.input, when),
  perMillion("output_tokens", rates.output, when),
  // Where it costs what other output does, it is no price of its own.
  ...(rates.reasoning === undefined || rates.reasoning === rates.output
    ? []
    : [perMillion("reasoning_tokens", rates.reasoning, when)]),
  ...(rates.request === undefined ? [] : [row("requests", "request", rates.request, when)]),
];

export function mediaPricing(price: MediaPrice): PricingRow[] {
  switch (price.basis) {
    case "image_tokens":
      return [
        perMillion("input_tokens", price.input),
        perMillion("input_image_tokens", price.imageInput),
        perMillion("output_tokens", price.output),
        perMillion("output_image_tokens", price.imageOutput),
      ];
    case "image_tiers":
      return [
        ...Object.entries(price.outputImage).flatMap(([quality, sizes]) =>
          Object.entries(sizes).map(([size, nano]) =>
            row("output_images", "image", nano, { quality, image_size: size }),
          ),
        ),
        row("input_images", "image", price.inputImage),
      ];
    case "images":
      return [
        ...(typeof price.outputImage === "bigint"
          ? [row("output_images", "image", price.outputImage)]
          : Object.entries(price.outputImage).map(([size, nano]) =>
              row("output_images", "image", nano, { image_size: size }),
            )),
        row("input_images", "image", price.inputImage),
      ];
    case "video_seconds":
      return [
        ...Object.entries(price.outputSecond).map(([resolution, nano]) =>
          row("output_video_seconds", "second", nano, { resolution }),
        ),
        row("input_images", "image", price.inputImage),
      ];
    case "video_tokens":
      return [perMillion("output_video_tokens", price.outputVideoToken)];
  }
}
