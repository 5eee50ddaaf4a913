/** Prices as data, in nano-USD. docs/models.md "Prices". */
import type { Weekday } from "../base/days.ts";
import type { NanoUsd } from "../base/money.ts";

/** Rates of one tier, in nano-USD per million tokens. */
export interface TextRates {
  readonly input: NanoUsd;
  /** Absent: the rate of `input`. */
  readonly cacheRead?: NanoUsd | undefined;
  /** Reads of a cache that the request's markers made, where the vendor tells. Absent: the rate of other cache reads. */
  readonly explicitCacheRead?: NanoUsd | undefined;
  /** Cache writes of five minutes, or the vendor's only kind. Absent: the rate of `input`. */
  readonly cacheWrite?: NanoUsd | undefined;
  /** Cache writes of an hour. Absent: the larger of `cacheWrite` and twice `input` (T54). */
  readonly cacheWrite1h?: NanoUsd | undefined;
  readonly output: NanoUsd;
  /** Absent: the rate of `output`. */
  readonly reasoning?: NanoUsd | undefined;
  /** True if the rate of `reasoning` is for the whole output of a call that reasoned (calls/reasoning-mode.ts). */
  readonly reasoningIsMode?: boolean | undefined;
  /** Sound in the input, including sound read from a cache; sound and pictures in the output. Each absent: the rate of its side. */
  readonly audioInput?: NanoUsd | undefined;
  readonly audioOutput?: NanoUsd | undefined;
  readonly imageOutput?: NanoUsd | undefined;
  /** Nano-USD per call. Absent: free. */
  readonly request?: NanoUsd | undefined;
  /** Nano-USD per web search that ran at the vendor. Absent: free. */
  readonly webSearch?: NanoUsd | undefined;
  /** Nano-USD per answer for which the vendor searched the web, once for any number of searches. Absent: free. */
  readonly webSearchAnswer?: NanoUsd | undefined;
  /** Nano-USD per search in files that the vendor keeps. Absent: free. */
  readonly fileSearch?: NanoUsd | undefined;
  /** Nano-USD per search in Google Maps, and per answer for which the vendor searched there. Absent: free. */
  readonly mapSearch?: NanoUsd | undefined;
  readonly mapAnswer?: NanoUsd | undefined;
  /** Nano-USD per search in the files of a request, run of code, and post and profile that a search in X fetched. Absent: free. */
  readonly attachmentSearch?: NanoUsd | undefined;
  readonly codeRun?: NanoUsd | undefined;
  readonly xPost?: NanoUsd | undefined;
  readonly xProfile?: NanoUsd | undefined;
  /** Pictures by the vendor's own tool: text input, picture input, output. Absent: free. */
  readonly imageToolInput?: NanoUsd | undefined;
  readonly imageToolImageInput?: NanoUsd | undefined;
  readonly imageToolOutput?: NanoUsd | undefined;
}

/** Rates for the whole of a call with more input tokens than `inputTokens` (T64). */
export interface PriceTier {
  readonly inputTokens: number;
  readonly rates: TextRates;
}

/** A price without a date. */
export interface FixedPrice extends TextRates {
  /** By rising `inputTokens`; the last tier that applies is used. */
  readonly above?: readonly PriceTier[] | undefined;
}

/** Hours of the week, in UTC, and the price in them (price-hours.ts). */
export interface PricedHours {
  /** Spans of a day such as `01:00-04:00`, without their end. `22:00-06:00` ends on the next day. */
  readonly hoursUtc: readonly string[];
  /** The days on which the spans begin. Absent: every day. */
  readonly days?: readonly Weekday[] | undefined;
  /** Days, such as `2026-10-01`, on which they do not begin. */
  readonly except?: readonly string[] | undefined;
  readonly price: FixedPrice;
}

/** A price that may have other rates in some hours. */
export interface HourlyPrice extends FixedPrice {
  /** The first that include a moment apply. */
  readonly hours?: readonly PricedHours[] | undefined;
}

/** A price that replaces the one before it at a moment, in Unix milliseconds. */
export interface DatedPrice {
  readonly fromMs: number;
  readonly price: HourlyPrice;
}

/** The price of a text offer: the current one, and later ones by rising `fromMs` (in-force.ts). */
export interface TextPrice extends HourlyPrice {
  readonly later?: readonly DatedPrice[] | undefined;
  /** The price outside of `hours`. Present while the rates are those of some hours. */
  readonly otherHours?: FixedPrice | undefined;
}

/** Nano-USD per million tokens, by kind of token. */
export interface ImageTokenPrice {
  readonly basis: "image_tokens";
  readonly input: NanoUsd;
  readonly imageInput: NanoUsd;
  readonly output: NanoUsd;
  readonly imageOutput: NanoUsd;
}

/** Nano-USD per image, by quality and image size. */
export interface ImageTierPrice {
  readonly basis: "image_tiers";
  readonly outputImage: Readonly<Record<string, Readonly<Record<string, NanoUsd>>>>;
  readonly inputImage: NanoUsd;
}

/** Nano-USD per image: one price, or one by image size. */
export interface ImagePrice {
  readonly basis: "images";
  readonly outputImage: NanoUsd | Readonly<Record<string, NanoUsd>>;
  readonly inputImage: NanoUsd;
}

/** A rate for videos with sound, and one for those without. */
export type SoundRates = Readonly<Record<"sound" | "silent", NanoUsd>>;

/** One rate for all videos, or two. */
export type VideoRate = NanoUsd | SoundRates;

/** Rates by resolution. */
export type VideoRates = Readonly<Record<string, VideoRate>>;

/** Nano-USD per produced second by resolution, and per input image. */
export interface VideoSecondPrice {
  readonly basis: "video_seconds";
  readonly outputSecond: VideoRates;
  readonly inputImage: NanoUsd;
}

/** Nano-USD per million generated-video tokens: one rate, or one by resolution. */
export interface VideoTokenPrice {
  readonly basis: "video_tokens";
  readonly outputVideoToken: VideoRate | VideoRates;
}

export const isBySound = (rate: VideoRate | VideoRates): rate is SoundRates =>
  typeof rate !== "bigint" && "sound" in rate;

export type MediaPrice =
  | ImageTokenPrice
  | ImageTierPrice
  | ImagePrice
  | VideoSecondPrice
  | VideoTokenPrice;
