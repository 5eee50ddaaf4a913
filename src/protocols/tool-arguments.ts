/** Arguments of tool calls: JSON text in the canonical form, objects in messages and generateContent. */
import { BeyondBoundsError } from "../base/answer-json.ts";
import { exactText, exactTwinOf } from "../base/exact-numbers.ts";
import { jsonBounds } from "../base/json-scan.ts";
import type { JsonObject } from "./canonical/request.ts";
import { parseObject } from "./read.ts";

/** True if a text means "no arguments": models write nothing or `null` for a tool without any. */
export const isNoArguments = (text: string): boolean => ["", "null"].includes(text.trim());

/** Returns the JSON text of arguments from a protocol with objects. Some vendors already write a text (T3). */
export const argumentsText = (value: unknown): string =>
  typeof value === "string" ? value : exactText(value ?? {});

/**
 * Returns the arguments as an object. Text that is no JSON object goes under the key `arguments`, so that nothing is lost and the answer
 * stays valid.
 */
export function argumentsObject(text: string): JsonObject {
  if (isNoArguments(text)) return {};
  return objectIn(text) ?? { arguments: text };
}

/** Returns the arguments as the text of an object, unchanged if they are one. */
export const objectText = (text: string): string =>
  objectIn(text) ? text : JSON.stringify(argumentsObject(text));

/** Matches the start of a JSON object, so that tool results that are listings or prose are not parsed. */
const beginsObject = /^[\t\n\r ]*\{/u;

/**
 * Parses a text as a JSON object; undefined if it is none, or exceeds the bounds of a body. The bounds apply here, because the body's own
 * check counted the text as one string.
 */
export function objectIn(text: string): JsonObject | undefined {
  if (!beginsObject.test(text)) return undefined;
  try {
    return exactTwinOf(parseObject(text, jsonBounds)) as JsonObject | undefined;
  } catch (error) {
    if (error instanceof BeyondBoundsError) return undefined;
    throw error;
  }
}
