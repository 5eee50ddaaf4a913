/** Renders the API's prices as lines. Pure; amounts stay decimal text and are compared as whole nano-dollars. */
import { parseUsd } from "../../base/money.ts";
import { readWhole } from "../../base/numbers.ts";
import { priceLines, type PriceLine } from "../../base/rates.ts";
import type { Model } from "./filters.ts";

type Offer = Model["offers"][number];

export interface PriceBlock {
  /** When the price applies; undefined: now, to all calls that no other block is for. */
  readonly when: string | undefined;
  readonly lines: readonly PriceLine[];
}

interface Tier {
  readonly input_tokens: number;
  readonly price: object;
}
interface Priced {
  readonly price: object;
  readonly price_above?: Tier;
  readonly price_tiers?: readonly Tier[];
}
interface Hours extends Priced {
  readonly hours_utc: readonly string[];
  readonly days?: readonly string[];
  readonly except?: readonly string[];
}
interface Hourly extends Priced {
  readonly price_hours?: readonly Hours[];
}
interface Dated extends Hourly {
  readonly from: string;
}

const joined = (...parts: readonly (string | undefined)[]): string | undefined =>
  parts.filter((part) => part !== undefined).join(", ") || undefined;

function blocksWithin(priced: Priced, when: string | undefined): PriceBlock[] {
  const tiers = priced.price_tiers ?? (priced.price_above ? [priced.price_above] : []);
  const above = tiers.map((tier) => ({
    when: joined(when, `with more than ${readWhole(tier.input_tokens)} tokens in`),
    lines: priceLines(tier.price),
  }));
  return [{ when, lines: priceLines(priced.price) }, ...above];
}

function hoursText({ hours_utc: spans, days, except }: Hours): string {
  const on = days === undefined ? "" : ` on ${days.join(", ")}`;
  const not = except === undefined ? "" : `, not on ${except.join(", ")}`;
  return `${spans.join(" and ")} UTC${on}${not}`;
}

const hourlyBlocks = (priced: Hourly, since?: string): PriceBlock[] => [
  ...blocksWithin(priced, since),
  ...(priced.price_hours ?? []).flatMap((each) =>
    blocksWithin(each, joined(since, hoursText(each))),
  ),
];

/** The price of an offer, its prices above input sizes, those of some hours, and its later prices by date. */
export function priceBlocks(offer: Offer): readonly PriceBlock[] {
  const dated = (offer.later_prices ?? []) as unknown as readonly Dated[];
  return [
    ...hourlyBlocks(offer as unknown as Hourly),
    ...dated.flatMap((each) => hourlyBlocks(each, `from ${each.from.slice(0, 10)} (UTC)`)),
  ];
}

export const isServing = ({ health, paused_until: paused }: Offer): boolean =>
  paused === null && health?.state !== "out";

const rateOf = ({ price }: Offer, field: "input" | "output"): bigint | undefined => {
  const text = (price as Readonly<Record<string, unknown>>)[field];
  return typeof text === "string" ? parseUsd(text) : undefined;
};

export interface Headline {
  /** USD per million tokens in and out; null if the model is not sold by tokens. */
  readonly input: string | null;
  readonly output: string | null;
  /** The lowest rate that is not per token. */
  readonly other: PriceLine | null;
  /** Prices differ between offers, so it reads "from". */
  readonly from: boolean;
}

const textIn = ({ price }: Offer, field: string): string | null => {
  const text = (price as Readonly<Record<string, unknown>>)[field];
  return typeof text === "string" ? text : null;
};

const costOf = (offer: Offer): bigint => {
  const tokens = [rateOf(offer, "input"), rateOf(offer, "output")].filter(
    (rate) => rate !== undefined,
  );
  if (tokens.length > 0) return tokens.reduce((sum, rate) => sum + rate, 0n);
  const [least] = byAmount(priceLines(offer.price));
  return least === undefined ? 0n : parseUsd(least.amount);
};

const ascending = (one: bigint, other: bigint): number => (one < other ? -1 : Number(one > other));
const byAmount = (lines: readonly PriceLine[]) =>
  lines.toSorted((one, other) => ascending(parseUsd(one.amount), parseUsd(other.amount)));

/** The price for lists: that of the cheapest serving offer, else of the cheapest offer. */
export function headlineOf({ offers }: Model): Headline {
  const serving = offers.filter(isServing);
  const from = serving.length > 0 ? serving : offers;
  const [first] = from.toSorted((one, other) => ascending(costOf(one), costOf(other)));
  if (first === undefined) return { input: null, output: null, other: null, from: false };
  const [input, output] = [textIn(first, "input"), textIn(first, "output")];
  const bySize = byAmount(priceLines(first.price).filter(({ name }) => name.startsWith("output")));
  return {
    input,
    output,
    other: input === null && output === null ? (bySize[0] ?? null) : null,
    from: new Set(from.map((offer) => JSON.stringify(offer.price))).size > 1 || bySize.length > 1,
  };
}
