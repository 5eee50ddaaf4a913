/** Prices of a LiteLLM deployment: USD a token become USD a million tokens, as decimal text, never through a float. */
import { decimalOf } from "../../catalog/index.ts";
import type { Report } from "./report.ts";
import type { Section } from "./file.ts";

/** A price as our file has it: USD per million tokens. */
export type PriceRow = Readonly<Record<string, string>>;

/** What a deployment says of its own price. */
export interface OwnPrice {
  readonly rates: PriceRow;
  /** Rates of calls with more input tokens, by rising `input_tokens`; what one leaves out is as without it. */
  readonly tiers: readonly { readonly input_tokens: number; readonly price: PriceRow }[];
}

const rates: ReadonlyMap<string, string> = new Map([
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cache_read"],
  ["cache_creation_input_token_cost", "cache_write"],
  ["cache_creation_input_token_cost_above_1hr", "cache_write_1h"],
  ["output_cost_per_reasoning_token", "reasoning"],
  ["input_cost_per_audio_token", "audio_input"],
  ["output_cost_per_audio_token", "audio_output"],
  ["output_cost_per_image_token", "image_output"],
]);

/**
 * A cost per token ("0.0000025", "2.5e-06") as USD per million tokens, at most nine decimals. Undefined for what is no number.
 */
export const perMillion = (text: string): string | undefined => scaled(text, 6);

/** A number as decimal text, times ten to `power`. */
function scaled(text: string, power: number): string | undefined {
  const match = /^(\d*(?:\.\d+)?)(?:[eE]([+-]?\d{1,2}))?$/.exec(text.replaceAll("_", ""));
  if (!match || match[1] === "") return undefined;
  const whole = match[1]!.startsWith(".") ? `0${match[1]!}` : match[1]!;
  return decimalOf(`${whole}e${Number(match[2] ?? 0) + power}`);
}

/** Which rate a field is, and of calls with how many input tokens: `..._above_200k_tokens`. Undefined for other fields. */
function rateOf(field: string): { readonly key: string; readonly above: number } | undefined {
  const tier = /_above_([1-9]\d{0,5})(k?)_tokens$/.exec(field);
  const key = rates.get(tier === null ? field : field.slice(0, tier.index));
  if (key === undefined) return undefined;
  return { key, above: tier === null ? 0 : Number(tier[1]) * (tier[2] === "k" ? 1_000 : 1) };
}

interface Priced {
  readonly kind: "text" | "embedding";
  /** What the vendor bills web searches by. */
  readonly searchKey: "web_search" | "web_search_answer";
  /** Where the price stands in our file. */
  readonly to: string;
}

/** Why a tier is not taken over; undefined where it is. */
const notOf = (kind: Priced["kind"], above: number): string | undefined =>
  kind === "embedding" && above > 0 ? "embeddings have one price, however long" : undefined;

/** A rate that a field says, in USD per million tokens. */
interface Said {
  readonly field: string;
  readonly key: string;
  /** Of calls with more input tokens than this; 0: of all. */
  readonly above: number;
  readonly usd: string;
  /** What becomes of it. Absent: USD per million tokens. */
  readonly note?: string;
}

const searchField = "search_context_cost_per_query";
const searchSizes = ["medium", "low", "high"].map((size) => `search_context_size_${size}`);

/** The price of web searches: a number, or one for each size of what is found, of which ours has one. */
function searchPriceIn(section: Section, key: string, report: Report): Said[] {
  const field = section.at(searchField);
  const single = section.text(searchField);
  const sizes = section.section(searchField);
  const texts =
    single === undefined ? searchSizes.flatMap((size) => sizes.text(size) ?? []) : [single];
  if (texts.length === 0) return [];
  const [usd, ...others] = texts.map((text) => scaled(text, 0));
  if (usd === undefined) {
    report.unsupported(field, "is no number: write the price");
    return [];
  }
  const isOne = others.every((other) => other === usd);
  const note = isOne ? "USD per search" : `USD per search of any size: ${usd}, the first of them`;
  return [{ field, key, above: 0, usd, note }];
}

/** The rates that a section says; those that are not taken over are reported. */
function ratesIn(section: Section, { kind, searchKey }: Priced, report: Report): Said[] {
  return section.names().flatMap((name): Said[] => {
    if (name === searchField && kind === "text") return searchPriceIn(section, searchKey, report);
    const rate = rateOf(name);
    const text = rate && section.text(name);
    if (rate === undefined || text === undefined) return [];
    const usd = perMillion(text);
    const fault = notOf(kind, rate.above);
    if (usd !== undefined && fault === undefined)
      return [{ field: section.at(name), ...rate, usd }];
    report.unsupported(section.at(name), fault ?? "is no number: write the price");
    return [];
  });
}

/**
 * What the deployment itself says of its price, in `litellm_params` before `model_info`; undefined where it says nothing.
 * Reports each field.
 */
export function ownPrice(
  sections: readonly Section[],
  priced: Priced,
  report: Report,
): OwnPrice | undefined {
  const { to } = priced;
  const said = sections.flatMap((section) => ratesIn(section, priced, report));
  if (said.length === 0) return undefined;
  const byInput = new Map<number, Record<string, string>>();
  for (const { key, above, usd } of said) {
    const price = byInput.get(above) ?? {};
    price[key] ??= usd;
    byInput.set(above, price);
  }
  const tiers = [...byInput]
    .filter(([above]) => above > 0)
    .map(([input_tokens, price]) => ({ input_tokens, price }))
    .toSorted((one, other) => one.input_tokens - other.input_tokens);
  const tier = tiers.length > 1 ? "price_tiers[]." : "price_above.";
  for (const { field, key, above, note = "USD per million tokens" } of said) {
    const becomes = `${to}.${above > 0 ? tier : ""}price.${key}`;
    report.changed(field, note, becomes);
  }
  return { rates: byInput.get(0) ?? {}, tiers };
}

const searchKeys: ReadonlySet<string> = new Set(["web_search", "web_search_answer"]);

/** Whether it has a rate of tokens for every call: one that has a price for searches or long calls alone goes by the list. */
export const saysTokens = ({ rates: own }: OwnPrice): boolean =>
  Object.keys(own).some((key) => !searchKeys.has(key));

/** What LiteLLM's fields have a rate for. */
const sayable: ReadonlySet<string> = new Set([...rates.values(), ...searchKeys]);

/**
 * The deployment's own price as an offer has it. What it leaves out of input and output is the list's, and so is what its fields cannot
 * say, such as a price for each call; where it says tiers alone, so is everything else. A tier has the rates that it leaves out, too, as
 * without it.
 */
export function offerPrice(
  { rates: own, tiers }: OwnPrice,
  listed: PriceRow | undefined,
): Readonly<Record<string, unknown>> {
  const isKept = (key: string): boolean => !sayable.has(key) || !saysTokens({ rates: own, tiers });
  const kept = Object.entries(listed ?? {}).filter(([key]) => isKept(key));
  const base = { input: listed?.["input"] ?? "0", output: listed?.["output"] ?? "0" };
  const price = { ...base, ...Object.fromEntries(kept), ...own } as PriceRow;
  const whole = tiers.map((tier) => ({ ...tier, price: { ...price, ...tier.price } }));
  if (whole.length === 0) return { price };
  return whole.length === 1 ? { price, price_above: whole[0] } : { price, price_tiers: whole };
}
