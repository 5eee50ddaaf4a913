/** Converts prices of LiteLLM deployments from USD per token to USD per million tokens, as decimal text, never through a float. */
import { decimalOf } from "../../catalog/index.ts";
import type { Report } from "./report.ts";
import type { Section } from "./file.ts";

/** A price in our file: USD per million tokens. */
export type PriceRow = Readonly<Record<string, string>>;

/** A deployment's own price. */
export interface OwnPrice {
  readonly rates: PriceRow;
  /** Rates of calls with more input tokens, in ascending order of `input_tokens`. Absent rates are those of the base price. */
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

/** Converts a cost per token ("0.0000025", "2.5e-06") to USD per million tokens, at most nine decimals. Undefined for no number. */
export const perMillion = (text: string): string | undefined => scaled(text, 6);

/** Returns a number, multiplied by ten to the `power`, as decimal text. */
function scaled(text: string, power: number): string | undefined {
  const match = /^(\d*(?:\.\d+)?)(?:[eE]([+-]?\d{1,2}))?$/.exec(text.replaceAll("_", ""));
  if (!match || match[1] === "") return undefined;
  const whole = match[1]!.startsWith(".") ? `0${match[1]!}` : match[1]!;
  return decimalOf(`${whole}e${Number(match[2] ?? 0) + power}`);
}

/** The rate that a field sets, and the input tokens above which it applies: `..._above_200k_tokens`. Undefined for other fields. */
function rateOf(field: string): { readonly key: string; readonly above: number } | undefined {
  const tier = /_above_([1-9]\d{0,5})(k?)_tokens$/.exec(field);
  const key = rates.get(tier === null ? field : field.slice(0, tier.index));
  if (key === undefined) return undefined;
  return { key, above: tier === null ? 0 : Number(tier[1]) * (tier[2] === "k" ? 1_000 : 1) };
}

interface Priced {
  readonly kind: "text" | "embedding";
  /** True if the vendor bills searches by the answer, however many it made. */
  readonly byAnswer: boolean;
  /** Path of the price in our file. */
  readonly to: string;
}

/** Returns why a tier is not taken over; undefined if it is. */
const tierProblem = (kind: Priced["kind"], above: number): string | undefined =>
  kind === "embedding" && above > 0 ? "embeddings have one price, however long" : undefined;

/** A rate from a field, in USD per million tokens. */
interface FieldRate {
  readonly field: string;
  readonly key: string;
  /** Applies to calls with more input tokens than this; 0: to all. */
  readonly above: number;
  readonly usd: string;
  /** How it was converted. Absent: USD per million tokens. */
  readonly note?: string;
}

const searchField = "search_context_cost_per_query";
const searchSizes = ["medium", "low", "high"].map((size) => `search_context_size_${size}`);

/** Returns the price of web searches. LiteLLM has one number, or one for each size of the result; ours has only one. */
function searchPriceIn(section: Section, key: string, report: Report): FieldRate[] {
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

/** A field with the price of one use of a vendor's tool, or of a thousand. */
interface UseField {
  readonly key: string;
  /** The rate if the vendor bills by the answer. Absent: as `key`. */
  readonly answerKey?: string;
  /** The power of ten that makes it the price of one. */
  readonly power: number;
}

const useFields: ReadonlyMap<string, UseField> = new Map<string, UseField>([
  ["file_search_cost_per_1k_calls", { key: "file_search", power: -3 }],
  [
    "google_maps_grounding_cost_per_query",
    { key: "map_search", answerKey: "map_answer", power: 0 },
  ],
]);

/** Returns the price of a tool's use; undefined for other fields. */
function usePriceIn(section: Section, name: string, priced: Priced, report: Report) {
  const { kind, byAnswer } = priced;
  if (kind !== "text") return undefined;
  if (name === searchField)
    return searchPriceIn(section, byAnswer ? "web_search_answer" : "web_search", report);
  const use = useFields.get(name);
  const text = use && section.text(name);
  if (use === undefined || text === undefined) return undefined;
  const key = (byAnswer ? use.answerKey : undefined) ?? use.key;
  const usd = scaled(text, use.power);
  const field = section.at(name);
  if (usd !== undefined) return [{ field, key, above: 0, usd, note: "USD per search" }];
  report.unsupported(field, "is no number: write the price");
  return [];
}

/** Returns the rates of a section; reports those that are not taken over. */
function ratesIn(section: Section, priced: Priced, report: Report): FieldRate[] {
  const { kind } = priced;
  return section.names().flatMap((name): FieldRate[] => {
    const used = usePriceIn(section, name, priced, report);
    if (used !== undefined) return used;
    const rate = rateOf(name);
    const text = rate && section.text(name);
    if (rate === undefined || text === undefined) return [];
    const usd = perMillion(text);
    const fault = tierProblem(kind, rate.above);
    if (usd !== undefined && fault === undefined)
      return [{ field: section.at(name), ...rate, usd }];
    report.unsupported(section.at(name), fault ?? "is no number: write the price");
    return [];
  });
}

/** Returns the deployment's own price; `litellm_params` wins over `model_info`. Undefined if there is none. Reports each field. */
export function ownPrice(
  sections: readonly Section[],
  priced: Priced,
  report: Report,
): OwnPrice | undefined {
  const { to } = priced;
  const fieldRates = sections.flatMap((section) => ratesIn(section, priced, report));
  if (fieldRates.length === 0) return undefined;
  const byInput = new Map<number, Record<string, string>>();
  for (const { key, above, usd } of fieldRates) {
    const price = byInput.get(above) ?? {};
    price[key] ??= usd;
    byInput.set(above, price);
  }
  const tiers = [...byInput]
    .filter(([above]) => above > 0)
    .map(([input_tokens, price]) => ({ input_tokens, price }))
    .toSorted((one, other) => one.input_tokens - other.input_tokens);
  const tier = tiers.length > 1 ? "price_tiers[]." : "price_above.";
  for (const { field, key, above, note = "USD per million tokens" } of fieldRates) {
    const becomes = `${to}.${above > 0 ? tier : ""}price.${key}`;
    report.changed(field, note, becomes);
  }
  return { rates: byInput.get(0) ?? {}, tiers };
}

const searchKeys: ReadonlySet<string> = new Set([
  "web_search",
  "web_search_answer",
  "file_search",
  "map_search",
  "map_answer",
]);

/** True if it has a token rate for calls of any length. A price for searches or long calls alone is combined with the list's rates. */
export const setsTokenRates = ({ rates: own }: OwnPrice): boolean =>
  Object.keys(own).some((key) => !searchKeys.has(key));

/** All rates that LiteLLM's fields can express. */
const expressibleRates: ReadonlySet<string> = new Set([...rates.values(), ...searchKeys]);

/**
 * Returns the deployment's own price as in an offer. Missing input and output rates come from the list. So do rates that LiteLLM's
 * fields cannot express, such as a price for each call. If the deployment sets no token rates outside tiers, all other rates come from
 * the list too. A tier's missing rates are those of the base price.
 */
export function offerPrice(
  { rates: own, tiers }: OwnPrice,
  listed: PriceRow | undefined,
): Readonly<Record<string, unknown>> {
  const isKept = (key: string): boolean =>
    !expressibleRates.has(key) || !setsTokenRates({ rates: own, tiers });
  const kept = Object.entries(listed ?? {}).filter(([key]) => isKept(key));
  const base = { input: listed?.["input"] ?? "0", output: listed?.["output"] ?? "0" };
  const price = { ...base, ...Object.fromEntries(kept), ...own } as PriceRow;
  const whole = tiers.map((tier) => ({ ...tier, price: { ...price, ...tier.price } }));
  if (whole.length === 0) return { price };
  return whole.length === 1 ? { price, price_above: whole[0] } : { price, price_tiers: whole };
}

/** The same over the list's whole price. Its tiers stay if the deployment sets neither tiers nor rates of tokens. */
export function priceOver(
  own: OwnPrice,
  { price, ...tiers }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const kept = own.tiers.length === 0 && !setsTokenRates(own) ? tiers : {};
  return { ...kept, ...offerPrice(own, price as PriceRow | undefined) };
}
