/** Uses the total of a usage to find counts that the vendor left out of its two sides. For both OpenAI-style protocols. Trap T50. */

/** The counts that some vendors leave out of the sides. */
interface Parts {
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** A usage as reported. */
interface Reported extends Parts {
  readonly input: number;
  readonly output: number;
  readonly total: number | undefined;
}

type PartName = keyof Parts;

/** The parts that vendors leave out, the commonest first. */
const leftOutTogether: readonly (readonly PartName[])[] = [
  ["reasoning", "cacheRead"],
  ["reasoning"],
  ["cacheRead"],
  ["cacheWrite"],
  ["cacheRead", "cacheWrite"],
  ["reasoning", "cacheWrite"],
  ["reasoning", "cacheRead", "cacheWrite"],
];

/**
 * Returns both sides, complete: xAI leaves reasoning out of the output. Some gateways in front of Claude leave what the cache read and wrote
 * out of the input, as Claude does.
 */
export function completeFromTotal(reported: Reported) {
  const { input, output, total, cacheRead, cacheWrite, reasoning } = reported;
  const rest = total === undefined ? 0 : total - input - output;
  const sumOf = (names: readonly PartName[]): number =>
    names.reduce((sum, name) => sum + reported[name], 0);
  const leftOut = (rest > 0 && leftOutTogether.find((names) => sumOf(names) === rest)) || [];
  const isCacheTold = leftOut.some((name) => name !== "reasoning" && reported[name] > 0);
  // Counts of the cache above the input cannot be part of it. A vendor that leaves out one of the two leaves out both, unless its total
  // says otherwise.
  const isCacheBeside = !isCacheTold && (cacheRead > input || cacheWrite > input);
  const addsRead = isCacheBeside || leftOut.includes("cacheRead") || cacheRead > input;
  const addsWrite = isCacheBeside || leftOut.includes("cacheWrite") || cacheWrite > input;
  return {
    input: input + (addsRead ? cacheRead : 0) + (addsWrite ? cacheWrite : 0),
    output: output + (leftOut.includes("reasoning") ? reasoning : 0),
  };
}
