/** Web searches at the vendor, which some vendors bill separately: reported counts, and the most that a request may cause. */
import type { WireObject } from "../base/json.ts";
import { reportedCount, type Usage } from "../base/usage.ts";
import { list, objectOf, objects } from "./read.ts";

/** Maximum number of searches per answer: a higher report is an upstream error and is ignored. The gateway reserves no more either. */
const searchesMax = 10_000;
/** Number of searches reserved for a request without a limit. The actual number is charged, even if it is higher. */
const searchesDefault = 10;

/** Returns the searches in a `usage` object, as Anthropic and compatible vendors report them. */
export function reportedSearches(usage: WireObject): number {
  const count = reportedCount(objectOf(usage["server_tool_use"])["web_search_requests"]) ?? 0;
  return count > searchesMax ? 0 : count;
}

/** True if an output item of the responses protocol is a search; opening a found page or searching in it is none. */
export function isSearch(item: WireObject): boolean {
  if (item["type"] !== "web_search_call" || item["status"] === "failed") return false;
  const { type } = objectOf(item["action"]);
  return type === undefined || type === "search";
}

/** Counts the searches in the output items of a response. */
export const searchesIn = (output: unknown): number => objects(output).filter(isSearch).length;

/** Returns the non-empty search queries of generateContent candidates; the vendor bills each distinct one once. */
export function groundingQueries(candidates: unknown): string[] {
  const queries = objects(candidates).flatMap((candidate) =>
    list(objectOf(candidate["groundingMetadata"])["webSearchQueries"]),
  );
  return queries.filter((query) => typeof query === "string" && query.trim() !== "") as string[];
}

/** Returns a usage with the number of searches; unchanged if it is 0. */
export const withSearches = <MaybeUsage extends Usage | undefined>(
  usage: MaybeUsage,
  count: number,
): MaybeUsage => (usage === undefined || count === 0 ? usage : { ...usage, webSearches: count });

/**
 * Returns the searches to reserve: the sum of all `max_uses`, or `max` if a search tool has none (a default if both are unset). No more
 * than `max`; 0 without a search tool.
 */
export function searchesToReserve(
  isTool: (tool: WireObject) => boolean,
  tools: unknown,
  max?: unknown,
): number {
  const asked = objects(tools).filter(isTool);
  if (asked.length === 0) return 0;
  const bounds = asked.flatMap((tool) => reportedCount(tool["max_uses"]) ?? []);
  const bounded = bounds.reduce((sum, uses) => sum + uses, 0);
  const limit = reportedCount(max);
  const unbounded = bounds.length < asked.length ? (limit ?? searchesDefault) : 0;
  return Math.min(limit ?? searchesMax, bounded + unbounded, searchesMax);
}

/** Stands for a request field that enables search. */
export const searchTool = { type: "web_search" };

/** True for any version of a vendor's web search tool. */
export const isSearchTool = ({ type }: WireObject): boolean =>
  typeof type === "string" && type.startsWith("web_search");
