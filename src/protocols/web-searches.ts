/** Web searches that ran at the vendor, which some bill one by one. How answers tell them, and how many a request may cause. */
import type { WireObject } from "../base/json.ts";
import { reportedCount, type Usage } from "../base/usage.ts";
import { list, objectOf, objects } from "./read.ts";

/** More than any answer needs: what is reported above it is a fault of the upstream, and is not believed. Nor is more set aside. */
const searchesMax = 10_000;
/** Set aside for a request that may search as often as it likes. What was searched is charged, even where it is more. */
const searchesUnbounded = 10;

/** What a `usage` object tells: Anthropic does, and vendors that follow it. */
export function toldSearches(usage: WireObject): number {
  const count = reportedCount(objectOf(usage["server_tool_use"])["web_search_requests"]) ?? 0;
  return count > searchesMax ? 0 : count;
}

/** Whether an output item of the responses protocol is a search: to open a page that it found, or to look into it, is none. */
export function isSearch(item: WireObject): boolean {
  if (item["type"] !== "web_search_call" || item["status"] === "failed") return false;
  const { type } = objectOf(item["action"]);
  return type === undefined || type === "search";
}

/** Those in the output items of a response. */
export const searchesIn = (output: unknown): number => objects(output).filter(isSearch).length;

/** The queries that candidates of generateContent were grounded on: the vendor counts those that say something, each once. */
export function groundingQueries(candidates: unknown): string[] {
  const queries = objects(candidates).flatMap((candidate) =>
    list(objectOf(candidate["groundingMetadata"])["webSearchQueries"]),
  );
  return queries.filter((query) => typeof query === "string" && query.trim() !== "") as string[];
}

/** A usage with so many searches; as it is where there are none. */
export const withSearches = <Told extends Usage | undefined>(usage: Told, count: number): Told =>
  usage === undefined || count === 0 ? usage : { ...usage, webSearches: count };

/** How many searches a request may cause: none without a tool for it, and where neither that nor `max` has a bound, some. */
export function searchesAsked(
  isTool: (tool: WireObject) => boolean,
  tools: unknown,
  max?: unknown,
): number {
  const asked = objects(tools).filter(isTool);
  if (asked.length === 0) return 0;
  const bounds = asked.map((tool) => reportedCount(tool["max_uses"]) ?? searchesUnbounded);
  return Math.min(reportedCount(max) ?? searchesMax, Math.max(...bounds), searchesMax);
}

/** What stands for a field that asks for a search. */
export const searchTool = { type: "web_search" };

/** A tool whose type is one of the versions of a vendor's web search. */
export const isSearchTool = ({ type }: WireObject): boolean =>
  typeof type === "string" && type.startsWith("web_search");
