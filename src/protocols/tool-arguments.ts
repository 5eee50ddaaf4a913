/** Arguments of tool calls: JSON text in the canonical form, objects in messages and generateContent. */
import { exactly } from "../base/exact-numbers.ts";
import type { JsonObject } from "./canonical/request.ts";
import { parseObject } from "./read.ts";

/**
 * The arguments as an object. "" counts as no arguments; what is no JSON object (a model may write anything)
 * is kept under the one key `arguments`, so that nothing is lost and the answer stays legal.
 */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === "") return {};
  return (exactly(parseObject(text)) as JsonObject | undefined) ?? { arguments: text };
}
