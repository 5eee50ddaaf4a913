/**
 * Token usage, normalised. CONV-801 to CONV-820.
 * `inputTokens` includes cache reads and cache writes; `outputTokens` includes reasoning. Codecs add or subtract.
 */
export interface Usage extends ToolCounts {
  /** All input tokens, cached or not. */
  readonly inputTokens: number;
  /** Input tokens read from a prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to a prompt cache (5 minutes, or the vendor's only kind). */
  readonly cacheWriteTokens: number;
  /** Cache writes that are kept for an hour, which cost more (T54). */
  readonly cacheWrite1hTokens: number;
  /** All output tokens, reasoning included. */
  readonly outputTokens: number;
  /** Output tokens of reasoning; 0 if the vendor reports none. */
  readonly reasoningTokens: number;
  /** Audio and image tokens of input and output, if the vendor reports them. */
  readonly audioInputTokens?: number;
  /** Audio input tokens read from a prompt cache. Counted in `cacheReadTokens` too. */
  readonly audioCacheReadTokens?: number;
  readonly imageInputTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
  /** 1 if the cache reads are of a cache that the request's markers made, which Alibaba bills lower than its own; absent otherwise. */
  readonly explicitCache?: 1;
  /** 1 if the vendor bills none of these counts; absent otherwise. A number, as all members of a logged usage are. */
  readonly unbilled?: 1;
}

/** How often tools were used that the vendor runs beside the model. Each is absent if it was not, or the vendor reports nothing. */
export interface ToolUses {
  readonly webSearches?: number;
  /** Searches in files that the vendor keeps. */
  readonly fileSearches?: number;
  /** Searches in Google Maps. */
  readonly mapSearches?: number;
  /** Searches in the files of a request. */
  readonly attachmentSearches?: number;
  /** Runs of code. */
  readonly codeRuns?: number;
  /** Results of searches in X. */
  readonly xPosts?: number;
  readonly xProfiles?: number;
}

/** The same, with what is counted otherwise. */
export interface ToolCounts extends ToolUses {
  /** Tokens of images that the vendor's own tool made: text and image input, and all output. */
  readonly imageToolTextTokens?: number;
  readonly imageToolImageTokens?: number;
  readonly imageToolOutputTokens?: number;
}

export const noUsage: Usage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** More than any call can use: a higher count is a fault of the upstream, and is ignored. */
const tokensMax = 1_000_000_000;

/** Returns a number that a vendor reports: finite, at least 0; undefined for anything else. Seconds may have a fraction. */
export const reportedAmount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** Returns a reported count: a whole number from 0 to a thousand million; undefined for anything else (T51, T61: 0 counts as reported). */
export function reportedCount(value: unknown): number | undefined {
  const count = reportedAmount(value);
  return count !== undefined && Number.isInteger(count) && count <= tokensMax ? count : undefined;
}

/** Returns a reported count, or `fallback`. */
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

/** Returns a usage with the reported media counts above 0, each limited to the tokens of its side. */
export function withMediaCounts(
  usage: Usage,
  told: Readonly<Partial<Record<keyof MediaCounts, unknown>>>,
): Usage {
  // The usual case: nearly no call has any.
  if (!mediaCounts.some((name) => told[name])) return usage;
  const counts = mediaCounts.flatMap((name) => {
    const whole = wholeOf(name, usage);
    const count = Math.min(tokenCount(told[name]), whole);
    return count > 0 ? [[name, count] as const] : [];
  });
  return counts.length === 0 ? usage : { ...usage, ...Object.fromEntries(counts) };
}

/** Converts `cacheWrite1hTokens` to `cache_write_1h_tokens`. */
const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`);

/** Renders a usage for the operator: the billed counts of any kind of call. */
export const renderUsage = (usage: object): object =>
  Object.fromEntries(Object.entries(usage).map(([name, value]) => [snakeCase(name), value]));
