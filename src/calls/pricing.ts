/** The prices of a model in `GET /v1/models`: those of its first offer. MODELS-08. */
import { formatUsd, type NanoUsd } from "../base/money.ts";
import type { PriceUnit } from "../base/price-parts.ts";
import {
  audioCacheReadRate,
  hasHourWrites,
  hourWriteRate,
  isBySound,
  toolRates,
  type FixedPrice,
  type MediaPrice,
  type PricedHours,
  type Provider,
  type TextOffer,
  type TextPrice,
  type TextRates,
  type VideoRate,
  type VideoRates,
} from "../catalog/index.ts";
import { isClaudeInChat } from "./hour-writes.ts";
import { billsModes } from "./reasoning-mode.ts";

/** One rate. `when` names the tier it applies to, by the fields that select it. */
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

/** The prices of an embedding model, with those of some hours after them. */
export const embeddingPricing = (price: TextPrice): PricingRow[] =>
  allRows(price, (rates, when) => [
    perMillion("input_tokens", rates.input, when),
    ...requestRow(rates, when),
  ]);

/**
 * The rates of short calls first, then those of each tier, then the same for hours with their own price. A tier's rates apply to all
 * tokens of a call with more input (T64). Some offers have 1-hour cache writes (T54).
 */
export function textPricing(offer: TextOffer, provider: Pick<Provider, "dialect">): PricingRow[] {
  return allRows(offer.price, (rates, when) => [
    perMillion("input_tokens", rates.input, when),
    perMillion("cache_read_tokens", rates.cacheRead ?? rates.input, when),
    ...(rates.explicitCacheRead === undefined
      ? []
      : [
          perMillion("cache_read_tokens", rates.explicitCacheRead, {
            ...when,
            cache_type: "ephemeral",
          }),
        ]),
    ...cacheWriteRows(rates, offer, when),
    perMillion("output_tokens", rates.output, when),
    // Listed only if it differs from the price of other output.
    ...(rates.reasoning === undefined || rates.reasoning === rates.output
      ? []
      : [reasoningRow(rates.reasoning, provider, when)]),
    ...tokenRows(when, {
      audio_input_tokens: rates.audioInput,
      audio_cache_read_tokens: audioCacheReadRate(rates),
      audio_output_tokens: rates.audioOutput,
      image_output_tokens: rates.imageOutput,
    }),
    ...requestRow(rates, when),
    ...toolRows(rates, when),
  ]);
}

type RowsOf = (rates: TextRates, when?: PricingRow["when"]) => PricingRow[];

/** The rows of a price, then those of each tier, then the same for hours with their own price. */
function allRows({ otherHours, hours = [], ...now }: TextPrice, rows: RowsOf): PricingRow[] {
  const blocks = (
    { above = [], ...base }: FixedPrice,
    when?: PricingRow["when"],
  ): [TextRates, PricingRow["when"]][] => [
    [base, when],
    ...above.map((tier): [TextRates, PricingRow["when"]] => [
      tier.rates,
      { ...when, input_tokens_above: String(tier.inputTokens) },
    ]),
  ];
  return [
    ...blocks(otherHours ?? now),
    // The last row that fits applies, and the first hours that include the time.
    ...hours.toReversed().flatMap((each) => blocks(each.price, whenIn(each))),
  ].reduce<PricingRow[]>(
    (listed, [rates, when]) => [
      ...listed,
      ...completed(rows(rates, when), { listed, rates, when }),
    ],
    [],
  );
}

/** The charge for each kind of token without a rate of its own. */
const usualRates: Readonly<Record<string, (rates: TextRates) => NanoUsd>> = {
  cache_write_1h_tokens: hourWriteRate,
  reasoning_tokens: ({ output }) => output,
  audio_input_tokens: ({ input }) => input,
  audio_cache_read_tokens: ({ input, cacheRead = input }) => cacheRead,
  audio_output_tokens: ({ output }) => output,
  image_output_tokens: ({ output }) => output,
};

interface Listed {
  readonly listed: readonly PricingRow[];
  readonly rates: TextRates;
  readonly when: PricingRow["when"];
}

/** Adds a row for what only earlier rows list: those may fit the same call, and would be the last that do. */
function completed(rows: readonly PricingRow[], { listed, rates, when }: Listed): PricingRow[] {
  const own = new Set(rows.map(({ billable }) => billable));
  const missing = new Map(
    listed.flatMap(({ billable, unit }) => (own.has(billable) ? [] : [[billable, unit] as const])),
  );
  return [
    ...rows,
    ...[...missing].map(([billable, unit]) =>
      row(billable, unit, usualRates[billable]?.(rates) ?? 0n, when),
    ),
  ];
}

/** Alibaba bills the whole output of a call that reasoned. */
const reasoningRow = (
  nano: NanoUsd,
  provider: Pick<Provider, "dialect">,
  when?: PricingRow["when"],
): PricingRow =>
  billsModes(provider)
    ? perMillion("output_tokens", nano, { ...when, reasoning: "true" })
    : perMillion("reasoning_tokens", nano, when);

/** Lists are joined by commas. */
const whenIn = ({ hoursUtc, days, except }: PricedHours): PricingRow["when"] => ({
  hours_utc: hoursUtc.join(","),
  ...(days && { days: days.join(",") }),
  ...(except && { except: except.join(",") }),
});

/** The 1-hour rate is listed only if it differs. */
function cacheWriteRows(
  rates: TextRates,
  offer: TextOffer,
  when: PricingRow["when"],
): PricingRow[] {
  const rate = rates.cacheWrite ?? rates.input;
  const isKept = hasHourWrites(rates, offer.protocol) || isClaudeInChat(offer);
  const hour = isKept ? hourWriteRate(rates) : rate;
  return [
    perMillion("cache_write_tokens", rate, when),
    ...(hour === rate ? [] : [perMillion("cache_write_1h_tokens", hour, when)]),
  ];
}

const requestRow = ({ request }: TextRates, when?: PricingRow["when"]): PricingRow[] =>
  request === undefined ? [] : [row("requests", "request", request, when)];

/** Tools that run at the vendor beside the model. */
const toolRows = (rates: TextRates, when?: PricingRow["when"]): PricingRow[] =>
  toolRates.flatMap(({ rate, billed, per }) => {
    const nano = rates[rate];
    return nano === undefined ? [] : [row(billed, per, nano, when)];
  });

/** Rows for the token rates that are set. */
const tokenRows = (
  when: PricingRow["when"],
  rates: Readonly<Record<string, NanoUsd | undefined>>,
): PricingRow[] =>
  Object.entries(rates).flatMap(([billable, rate]) =>
    rate === undefined ? [] : [perMillion(billable, rate, when)],
  );

/** One row for each resolution with a rate of its own, and one without sound where that is another. */
function videoRows(
  rates: VideoRate | VideoRates,
  [billable, unit]: readonly [string, PricingRow["unit"]],
  when?: PricingRow["when"],
): PricingRow[] {
  if (typeof rates === "bigint") return [row(billable, unit, rates, when)];
  if (isBySound(rates))
    return [
      row(billable, unit, rates.sound, { ...when, audio: "true" }),
      row(billable, unit, rates.silent, { ...when, audio: "false" }),
    ];
  return Object.entries(rates).flatMap(([resolution, rate]) =>
    videoRows(rate, [billable, unit], { resolution }),
  );
}

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
        ...videoRows(price.outputSecond, ["output_video_seconds", "second"]),
        row("input_images", "image", price.inputImage),
      ];
    case "video_tokens":
      return videoRows(price.outputVideoToken, ["output_video_tokens", "million_tokens"]);
  }
}
