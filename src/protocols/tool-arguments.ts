/** Arguments of tool calls: JSON text in the canonical form, objects in messages and generateContent. */
import { BeyondBoundsError } from "../base/answer-json.ts";
import { exactly } from "../base/exact-numbers.ts";
import { jsonBounds } from "../base/json-scan.ts";
import type { JsonObject } from "./canonical/request.ts";
import { parseObject } from "./read.ts";

/** Whether a text says that there are no arguments: models write nothing at all, or `null`, for a tool that takes none. */
export const isNoArguments = (text: string): boolean => ["", "null"].includes(text.trim());

/**
 * The arguments as an object. What is no JSON object (a model may write anything) is kept under the one key `arguments`, so that
 * nothing is lost and the answer stays legal.
 */
export function argumentsObject(text: string): JsonObject {
  if (isNoArguments(text)) return {};
  return objectIn(text) ?? { arguments: text };
}

/** How the JSON of an object begins: results of tools are mostly listings and prose, of which no more need be read. */
const beginsObject = /^[\t\n\r ]*\{/u;

/**
 * The object that a text holds as JSON; undefined where it holds none, or one beyond the bounds of a body. To the body that it comes in
 * it is one text, so that nobody has counted what is in it.
 */
export function objectIn(text: string): JsonObject | undefined {
  if (!beginsObject.test(text)) return undefined;
  try {
    return exactly(parseObject(text, jsonBounds)) as JsonObject | undefined;
  } catch (error) {
    if (error instanceof BeyondBoundsError) return undefined;
    throw error;
  }
}
