/** Prices of a LiteLLM deployment: USD a token become USD a million tokens, as decimal text, never through a float. */
import { decimalOf } from "../../catalog/index.ts";
import type { Report } from "./report.ts";
import type { Section } from "./file.ts";

/** A price as our file has it: USD per million tokens. */
export type PriceRow = Readonly<Record<string, string>>;

const rates: readonly (readonly [string, string])[] = [
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cache_read"],
  ["cache_creation_input_token_cost", "cache_write"],
  ["output_cost_per_reasoning_token", "reasoning"],
];

/**
 * A cost per token ("0.0000025", "2.5e-06") as USD per million tokens, at most nine decimals. Undefined for what is no number.
 */
export function perMillion(text: string): string | undefined {
  const match = /^(\d*(?:\.\d+)?)(?:[eE]([+-]?\d{1,2}))?$/.exec(text.replaceAll("_", ""));
  if (!match || match[1] === "") return undefined;
  const whole = match[1]!.startsWith(".") ? `0${match[1]!}` : match[1]!;
  return decimalOf(`${whole}e${Number(match[2] ?? 0) + 6}`);
}

/**
 * What the deployment itself says of its price, in `litellm_params` before `model_info`; undefined where it says nothing.
 * Reports each field. `to`: where the price stands in our file.
 */
export function ownPrice(
  sections: readonly Section[],
  to: string,
  report: Report,
): PriceRow | undefined {
  const price: Record<string, string> = {};
  for (const section of sections)
    for (const [field, key] of rates) {
      const text = section.text(field);
      if (text === undefined) continue;
      const usd = perMillion(text);
      if (usd === undefined) report.unsupported(section.at(field), "is no number: write the price");
      else {
        price[key] ??= usd;
        report.changed(section.at(field), "USD per million tokens", `${to}.price.${key}`);
      }
    }
  return Object.keys(price).length === 0 ? undefined : price;
}
