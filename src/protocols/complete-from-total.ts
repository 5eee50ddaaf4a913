/** Uses the total of a usage to find counts that the vendor left out of its two sides. For both OpenAI-style protocols. Trap T50. */

/** A usage as reported. */
interface Reported {
  readonly input: number;
  readonly output: number;
  readonly total: number | undefined;
  readonly cacheRead: number;
  readonly reasoning: number;
}

/** Returns both sides, complete: xAI leaves reasoning out of the output, and some proxies leave cache reads out of the input. */
export function completeFromTotal({ input, output, total, cacheRead, reasoning }: Reported) {
  const rest = total === undefined ? 0 : total - input - output;
  const isBoth = rest > 0 && rest === reasoning + cacheRead;
  const addsReasoning = isBoth || (rest > 0 && rest === reasoning);
  // Cache reads above the input cannot be part of it.
  const addsCache =
    isBoth || (rest > 0 && rest === cacheRead && !addsReasoning) || cacheRead > input;
  return {
    input: input + (addsCache ? cacheRead : 0),
    output: output + (addsReasoning ? reasoning : 0),
  };
}
