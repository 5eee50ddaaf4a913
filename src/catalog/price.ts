/**
 * What a text call costs: usage times rates, exactly, rounded up once at the end.
 * Requirements: TXT; docs/decisions.md "Money". Guards T53 (nothing counted twice) and T54 (one-hour cache writes).
 */
import type { NanoUsd } from "../base/money.ts";
import type { Usage } from "../base/usage.ts";
import type { FixedPrice, TextRates } from "./types.ts";

const tokensPerMillion = 1_000_000n;

/** The rate of one-hour cache writes: as given, else the larger of the five-minute rate and twice the input rate (T54). */
export function hourWriteRate(rates: TextRates): NanoUsd {
  if (rates.cacheWrite1h !== undefined) return rates.cacheWrite1h;
  const fiveMinutes = rates.cacheWrite ?? rates.input;
  const twiceInput = 2n * rates.input;
  return fiveMinutes > twiceInput ? fiveMinutes : twiceInput;
}

/** The rates that hold for a call of so many input tokens: the last tier passed, for the whole call (T64). */
function ratesFor(price: FixedPrice, inputTokens: number): TextRates {
  return price.above?.findLast((tier) => inputTokens > tier.inputTokens)?.rates ?? price;
}

/**
 * The price of a call, in nano-USD, never below the exact price and less than one nano-dollar above it.
 * A part larger than its whole (more cache reads than input) is a vendor's slip: it is cut to the whole,
 * so that no token is billed twice and none negatively (T51, T53).
 */
export function priceUsage(price: FixedPrice, usage: Usage): NanoUsd {
  const rates = ratesFor(price, usage.inputTokens);
  const cacheRead = Math.min(usage.cacheReadTokens, usage.inputTokens);
  const cacheWrite = Math.min(usage.cacheWriteTokens, usage.inputTokens - cacheRead);
  const hourWrite = Math.min(usage.cacheWrite1hTokens, cacheWrite);
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens);
  const cached =
    cacheRead + cacheWrite === 0
      ? 0n
      : BigInt(cacheRead) * (rates.cacheRead ?? rates.input) +
        BigInt(cacheWrite - hourWrite) * (rates.cacheWrite ?? rates.input) +
        BigInt(hourWrite) * hourWriteRate(rates);
  const reasoned = reasoning === 0 ? 0n : BigInt(reasoning) * (rates.reasoning ?? rates.output);
  const product =
    BigInt(usage.inputTokens - cacheRead - cacheWrite) * rates.input +
    cached +
    BigInt(usage.outputTokens - reasoning) * rates.output +
    reasoned;
  return (product + tokensPerMillion - 1n) / tokensPerMillion + (rates.request ?? 0n);
}
