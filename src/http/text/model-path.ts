/**
 * Parses the model and the method of a generateContent path: `/v1beta/models/vendor/model:@price:streamGenerateContent`. The method
 * follows the last colon; the rest after the model id is its suffix (docs/decisions.md "Other spellings").
 */
import { GatewayError } from "../../base/errors.ts";
import type { RouteMatch } from "../routes.ts";

/** Returns the model of a path, with its suffix and method. @throws GatewayError `malformed_request` on a bad escape. */
export function modelOf({ model }: RouteMatch): string {
  if (model === undefined)
    throw new GatewayError("malformed_request", "The path has a malformed percent-escape.");
  return model;
}

/** @throws GatewayError `malformed_request`; `not_found` when the path has no method. */
export function parseModelPath(match: RouteMatch): { model: string; method: string } {
  const tail = modelOf(match);
  const colon = tail.lastIndexOf(":");
  if (colon <= 0) {
    throw new GatewayError(
      "not_found",
      "The path needs a model and a method, as in /v1beta/models/{model}:generateContent.",
    );
  }
  return { model: tail.slice(0, colon), method: tail.slice(colon + 1) };
}
