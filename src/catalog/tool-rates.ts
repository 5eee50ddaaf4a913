/**
 * The tools that vendors run beside the model and bill by their use, in one list. Calls are charged, reserved and shown by it.
 * docs/models.md.
 */
import type { PriceUnit } from "../base/price-parts.ts";
import type { ToolCounts } from "../base/usage.ts";
import type { TextPriceRow } from "./price-schema.ts";
import type { TextRates } from "./price-types.ts";

interface ToolRate {
  readonly rate: keyof TextRates;
  /** Its name in a configuration row. */
  readonly row: keyof TextPriceRow;
  readonly count: keyof ToolCounts;
  /** The name of the item in a bill and in the prices of a model. */
  readonly billed: string;
  /** A rate per `request` is for the whole answer, however large the count. */
  readonly per: PriceUnit;
}

export const toolRates = [
  {
    rate: "webSearch",
    row: "web_search",
    count: "webSearches",
    billed: "web_searches",
    per: "search",
  },
  {
    rate: "webSearchAnswer",
    row: "web_search_answer",
    count: "webSearches",
    billed: "web_search_answers",
    per: "request",
  },
  {
    rate: "fileSearch",
    row: "file_search",
    count: "fileSearches",
    billed: "file_searches",
    per: "search",
  },
  {
    rate: "mapSearch",
    row: "map_search",
    count: "mapSearches",
    billed: "map_searches",
    per: "search",
  },
  {
    rate: "mapAnswer",
    row: "map_answer",
    count: "mapSearches",
    billed: "map_answers",
    per: "request",
  },
  {
    rate: "attachmentSearch",
    row: "attachment_search",
    count: "attachmentSearches",
    billed: "attachment_searches",
    per: "search",
  },
  { rate: "codeRun", row: "code_run", count: "codeRuns", billed: "code_runs", per: "item" },
  { rate: "xPost", row: "x_post", count: "xPosts", billed: "x_posts", per: "item" },
  { rate: "xProfile", row: "x_profile", count: "xProfiles", billed: "x_profiles", per: "item" },
  {
    rate: "imageToolInput",
    row: "image_tool_input",
    count: "imageToolTextTokens",
    billed: "image_tool_input_tokens",
    per: "million_tokens",
  },
  {
    rate: "imageToolImageInput",
    row: "image_tool_image_input",
    count: "imageToolImageTokens",
    billed: "image_tool_input_image_tokens",
    per: "million_tokens",
  },
  {
    rate: "imageToolOutput",
    row: "image_tool_output",
    count: "imageToolOutputTokens",
    billed: "image_tool_output_tokens",
    per: "million_tokens",
  },
] as const satisfies readonly ToolRate[];
