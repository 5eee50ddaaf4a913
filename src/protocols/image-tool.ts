/**
 * Pictures that a vendor's own tool made for a response: another model's tokens, which its `usage` lacks. The response tells them beside
 * it, as `tool_usage.image_gen`. docs/models.md "Pictures by a tool".
 */
import type { WireObject } from "../base/json.ts";
import { tokenCount, type Usage, type ImageToolCounts } from "../base/usage.ts";
import { objectOf, objects } from "./read.ts";

/** A usage with those of the counts in a response's `tool_usage` that are above 0; as it is where there are none. */
export function withImageTool<Told extends Usage | undefined>(
  usage: Told,
  toolUsage: unknown,
): Told {
  const told = objectOf(objectOf(toolUsage)["image_gen"]);
  const input = tokenCount(told["input_tokens"]);
  const output = tokenCount(told["output_tokens"]);
  if (usage === undefined || input + output === 0) return usage;
  const images = Math.min(
    tokenCount(objectOf(told["input_tokens_details"])["image_tokens"]),
    input,
  );
  const counts: ImageToolCounts = {
    ...(input > images && { imageToolTextTokens: input - images }),
    ...(images > 0 && { imageToolImageTokens: images }),
    ...(output > 0 && { imageToolOutputTokens: output }),
  };
  return { ...usage, ...counts };
}

/** Whether a request lets the model make pictures by its vendor's tool. */
export const asksForImageTool = (tools: unknown): boolean =>
  objects(tools).some((tool: WireObject) => tool["type"] === "image_generation");
