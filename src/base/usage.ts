/**
 * Token usage, normalised. CONV-801 to CONV-820.
 * `inputTokens` includes cache reads and cache writes; `outputTokens` includes reasoning. Codecs add or subtract.
 */
export interface Usage {
  /** All input tokens, cached or not. */
  readonly inputTokens: number;
  /** Of the input: read from a prompt cache. */
  readonly cacheReadTokens: number;
  /** Of the input: written to a prompt cache (5 minutes, or the vendor's only kind). */
  readonly cacheWriteTokens: number;
  /** Of the cache writes: those kept for an hour, which cost more (T54). */
  readonly cacheWrite1hTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  /** Of the output: reasoning. 0 where the vendor reports none. */
  readonly reasoningTokens: number;
  /** Of the input and of the output: what is sound or pictures, where the vendor tells it apart. */
  readonly audioInputTokens?: number;
  /** Of the sound in the input: read from a prompt cache. Counted in `cacheReadTokens` too. */
  readonly audioCacheReadTokens?: number;
  readonly imageInputTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  /** Web searches that ran at the vendor; absent where there were none, or none are told. */
  readonly webSearches?: number;
  /** Tokens of pictures that the vendor's own tool made: text and pictures in, and all that came out. Absent where there were none. */
  readonly imageToolTextTokens?: number;
  readonly imageToolImageTokens?: number;
  readonly imageToolOutputTokens?: number;
}

export type ImageToolCounts = Pick<
  Usage,
  "imageToolTextTokens" | "imageToolImageTokens" | "imageToolOutputTokens"
>;

export const noUsage: Usage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** More than any call can use: what is reported above it is a fault of the upstream, and is not believed. */
const tokensMax = 1_000_000_000;

/** A number that a vendor reports: finite, from 0 up; undefined for anything else. Seconds may have a fraction. */
export const reportedAmount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** A reported count: a whole number from 0 to a thousand million; undefined for anything else (T51, T61: 0 counts as reported). */
export function reportedCount(value: unknown): number | undefined {
  const count = reportedAmount(value);
  return count !== undefined && Number.isInteger(count) && count <= tokensMax ? count : undefined;
}

/** A reported count, or `fallback`. */
export const tokenCount = (value: unknown, fallback = 0): number =>
  reportedCount(value) ?? fallback;

const mediaCounts = [
  "audioInputTokens",
  "audioCacheReadTokens",
  "imageInputTokens",
  "audioOutputTokens",
  "imageOutputTokens",
] as const;
type MediaCounts = Pick<Usage, (typeof mediaCounts)[number]>;

function wholeOf(name: keyof MediaCounts, usage: Usage): number {
  if (name === "audioCacheReadTokens") return usage.cacheReadTokens;
  return name.endsWith("InputTokens") ? usage.inputTokens : usage.outputTokens;
}

/** A usage with those of these reported counts that are above 0, none above its side. */
export function withMediaCounts(
  usage: Usage,
  told: Readonly<Partial<Record<keyof MediaCounts, unknown>>>,
): Usage {
  // Nearly no call has any.
  if (!mediaCounts.some((name) => told[name])) return usage;
  const counts = mediaCounts.flatMap((name) => {
    const whole = wholeOf(name, usage);
    const count = Math.min(tokenCount(told[name]), whole);
    return count > 0 ? [[name, count] as const] : [];
  });
  return counts.length === 0 ? usage : { ...usage, ...Object.fromEntries(counts) };
}
