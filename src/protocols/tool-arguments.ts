/** Arguments of tool calls: JSON text in the canonical form, objects in messages and generateContent. */
import { isObject } from "../base/json.ts";
import type { JsonObject } from "./canonical/request.ts";

/**
 * The arguments as an object. "" counts as no arguments; what is no JSON object (a model may write anything)
 * is kept under the one key `arguments`, so that nothing is lost and the answer stays legal.
 */
export function argumentsObject(text: string): JsonObject {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value as JsonObject;
  } catch {
    // Not JSON: kept as text below.
  }
  return { arguments: text };
}
