/**
 * Adds to a tool call of a direct answer the members that clients require and some vendors leave out. Mistral's calls have no type, and
 * calls of Claude at OpenRouter without arguments have none. TXT-10.
 */
import { isObject, type WireObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import { isServerCall } from "../call-id.ts";
import { nonEmpty } from "../read.ts";
import { argumentsText } from "../tool-arguments.ts";
import { idText } from "./id-text.ts";

/** True if a call, or its first piece, lacks nothing. */
export const isCompleteCall = ({ id, type, function: called }: WireObject): boolean =>
  nonEmpty(id) !== undefined &&
  nonEmpty(type) !== undefined &&
  (!isObject(called) || typeof called["arguments"] === "string");

/** Returns the completed call. `id` counts if it has none, `without` if it has no arguments. */
export function completeCall(call: JsonObject, id: () => string, without: "" | "{}"): JsonObject {
  const { function: called } = call;
  const type = nonEmpty(call["type"]) ?? (isObject(call["custom"]) ? "custom" : "function");
  const completed: JsonObject = { ...call, id: nonEmpty(call["id"]) ?? id(), type };
  if (isObject(called) && typeof called["arguments"] !== "string") {
    const { arguments: given } = called;
    const text = (given ?? null) === null ? without : argumentsText(given);
    completed["function"] = { ...called, arguments: text };
  }
  return completed;
}

/** True for a call, or its first piece, that the caller has to make. */
export const isOwnCall = (call: WireObject): boolean => !isServerCall(idText(call));
