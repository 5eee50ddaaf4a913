/**
 * What a usage's total says of its two sides: where it is more than both, the rest is what the vendor left out of them. For both
 * OpenAI-style protocols. Trap T50.
 */

/** A usage as it was reported. */
interface Reported {
  readonly input: number;
  readonly output: number;
  readonly total: number | undefined;
  readonly cacheRead: number;
  readonly reasoning: number;
}

/** Both sides, each with what belongs to it: xAI leaves its reasoning out of the output, and some proxies cache reads out of the input. */
export function withLeftOut({ input, output, total, cacheRead, reasoning }: Reported) {
  const rest = total === undefined ? 0 : total - input - output;
  const isBoth = rest > 0 && rest === reasoning + cacheRead;
  const addsReasoning = isBoth || (rest > 0 && rest === reasoning);
  // Cache reads above the input can only stand beside it.
  const addsCache =
    isBoth || (rest > 0 && rest === cacheRead && !addsReasoning) || cacheRead > input;
  return {
    input: input + (addsCache ? cacheRead : 0),
    output: output + (addsReasoning ? reasoning : 0),
  };
}
