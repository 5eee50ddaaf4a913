/** Uses of tools that the vendor runs and bills beside the model: reported counts, and the most that a request may cause. */
import { isObject, type WireObject } from "../base/json.ts";
import { reportedCount, type ToolUses, type Usage } from "../base/usage.ts";
import { objectOf, objects } from "./read.ts";

/** Maximum of one count per answer: a higher report is an upstream error and is ignored. The gateway reserves no more either. */
const usesMax = 10_000;
/** Number of uses reserved for a request without a limit. The actual number is charged, even if it is higher. */
const usesDefault = 10;

/** Members of a `usage` object with counts of uses, or objects that have a `count`. */
const reports: readonly (readonly [
  member: string,
  uses: Readonly<Record<string, keyof ToolUses>>,
])[] = [
  // Anthropic, and vendors compatible with it.
  ["server_tool_use", { web_search_requests: "webSearches" }],
  // xAI: what succeeded, which it bills. Opened pages are web searches there.
  [
    "server_side_tool_usage_details",
    {
      web_search_calls: "webSearches",
      file_search_calls: "fileSearches",
      document_search_calls: "attachmentSearches",
      code_interpreter_calls: "codeRuns",
      x_posts_fetched: "xPosts",
      x_users_fetched: "xProfiles",
    },
  ],
  // DashScope.
  ["x_tools", { web_search: "webSearches", code_interpreter: "codeRuns" }],
];

/** Returns the uses that a `usage` object reports, also those of 0. */
export function reportedUses(usage: WireObject): ToolUses {
  const counts = reports.flatMap(([member, uses]) => {
    const told = usage[member];
    if (!isObject(told)) return [];
    return Object.entries(uses).flatMap(([name, use]) => {
      const value = told[name];
      const count = reportedCount(isObject(value) ? value["count"] : value);
      return count === undefined || count > usesMax ? [] : [[use, count] as const];
    });
  });
  return Object.fromEntries(counts);
}

/**
 * Returns which use an output item of the responses protocol is; undefined for other items, and for failed ones. Opening a found page or
 * searching in it is no search.
 */
export function useOf({ type, status, action }: WireObject): keyof ToolUses | undefined {
  if (status === "failed") return undefined;
  if (type === "file_search_call") return "fileSearches";
  if (type !== "web_search_call") return undefined;
  const { type: done } = objectOf(action);
  return done === undefined || done === "search" ? "webSearches" : undefined;
}

/** Returns the uses with one more; unchanged for undefined. */
export const oneMore = (uses: ToolUses, use: keyof ToolUses | undefined): ToolUses =>
  use === undefined ? uses : { ...uses, [use]: (uses[use] ?? 0) + 1 };

/** Counts the uses in the output items of a response. */
export const usesIn = (output: unknown): ToolUses => objects(output).map(useOf).reduce(oneMore, {});

/** Returns the counted uses, or those that the response's `usage` reports in place of them. */
export const orReported = (counted: ToolUses, usage: unknown): ToolUses => ({
  ...counted,
  ...reportedUses(objectOf(usage)),
});

/** Returns the larger of two counts of each tool. */
export const mostUses = (one: ToolUses, other: ToolUses): ToolUses => ({
  ...one,
  ...Object.fromEntries(
    entriesOf(other).map(([use, count]) => [use, Math.max(count, one[use] ?? 0)]),
  ),
});

const entriesOf = (uses: ToolUses) => Object.entries(uses) as [keyof ToolUses, number][];

/** True if any tool was used. */
export const hasUses = (uses: ToolUses): boolean => entriesOf(uses).some(([, count]) => count > 0);

/** Returns a usage with the counts above 0; unchanged if there are none. */
export const withUses = <MaybeUsage extends Usage | undefined>(
  usage: MaybeUsage,
  uses: ToolUses,
): MaybeUsage =>
  usage === undefined || !hasUses(uses)
    ? usage
    : { ...usage, ...Object.fromEntries(entriesOf(uses).filter(([, count]) => count > 0)) };

/**
 * Returns the uses of a tool to reserve: the sum of all `max_uses`, or `max` if one has none (a default if both are unset). No more than
 * `max`; 0 without such a tool.
 */
export function usesToReserve(
  isTool: (tool: WireObject) => boolean,
  tools: unknown,
  max?: unknown,
): number {
  const asked = objects(tools).filter(isTool);
  if (asked.length === 0) return 0;
  const bounds = asked.flatMap((tool) => reportedCount(tool["max_uses"]) ?? []);
  const bounded = bounds.reduce((sum, uses) => sum + uses, 0);
  const limit = reportedCount(max);
  const unbounded = bounds.length < asked.length ? (limit ?? usesDefault) : 0;
  return Math.min(limit ?? usesMax, bounded + unbounded, usesMax);
}

/** Posts that one search in X is assumed to fetch. */
const postsPerSearch = 10;

/** Returns what to reserve for this many searches in X. */
export const xUses = (searches: number): ToolUses => ({
  xPosts: Math.min(postsPerSearch * searches, usesMax),
  xProfiles: searches,
});

/** Returns the uses to reserve for a tool that needs no entry among the tools. */
export const usesAllowed = (max: unknown): number => usesToReserve(() => true, [{}], max);

/** Stands for a request field that enables search. */
export const searchTool = { type: "web_search" };

/** True for any version of a vendor's web search tool. */
export const isSearchTool = ({ type }: WireObject): boolean =>
  typeof type === "string" && type.startsWith("web_search");
