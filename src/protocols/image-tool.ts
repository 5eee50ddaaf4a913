/**
 * Usage of pictures that the vendor's own tool made for a response. They are another model's tokens: the response reports them in
 * `tool_usage.image_gen`, not in `usage`. docs/models.md "Images made by a tool".
 */
import { isObject, type WireObject } from "../base/json.ts";
import { tokenCount, type Usage, type ToolCounts } from "../base/usage.ts";
import { nonEmpty, objectOf, objects } from "./read.ts";

/**
 * Returns the usage with the counts above 0 of a response's `tool_usage`; unchanged if there are none. A vendor that reports no usage of
 * this tool is charged by the number of pictures (T56).
 */
export function withImageTool<MaybeUsage extends Usage | undefined>(
  usage: MaybeUsage,
  toolUsage: unknown,
  pictures: number,
): MaybeUsage {
  const wireCounts = objectOf(toolUsage)["image_gen"];
  if (!isObject(wireCounts)) return withToolPictures(usage, pictures);
  const input = tokenCount(wireCounts["input_tokens"]);
  const output = tokenCount(wireCounts["output_tokens"]);
  if (usage === undefined || input + output === 0) return usage;
  const images = Math.min(
    tokenCount(objectOf(wireCounts["input_tokens_details"])["image_tokens"]),
    input,
  );
  const counts: ToolCounts = {
    ...(input > images && { imageToolTextTokens: input - images }),
    ...(images > 0 && { imageToolImageTokens: images }),
    ...(output > 0 && { imageToolOutputTokens: output }),
  };
  return { ...usage, ...counts };
}

/** True for an item with a picture of the tool. */
export const isToolPicture = ({ type, result }: WireObject): boolean =>
  type === "image_generation_call" && nonEmpty(result) !== undefined;

/** Counts the pictures of the tool in the output items of a response. */
export const picturesIn = (output: unknown): number => objects(output).filter(isToolPicture).length;

/** Tokens of a square picture in high quality, 1024x1024: for pictures whose vendor has not reported them. */
const tokensPerPicture = 4_160;

/** Returns the usage with at least the output tokens of this many pictures. */
export function withToolPictures<MaybeUsage extends Usage | undefined>(
  usage: MaybeUsage,
  pictures: number,
): MaybeUsage {
  if (usage === undefined || pictures === 0) return usage;
  const tokens = Math.max(usage.imageToolOutputTokens ?? 0, pictures * tokensPerPicture);
  return { ...usage, imageToolOutputTokens: tokens };
}

/** True if a request offers the vendor's picture tool. */
export const asksForImageTool = (tools: unknown): boolean =>
  objects(tools).some((tool: WireObject) => tool["type"] === "image_generation");
