/**
 * The model and the method in a generateContent path: `/v1beta/models/vendor/model:@price:streamGenerateContent`.
 * The method stands after the last colon; what is left after the model id is its suffix (docs/decisions.md "Other spellings").
 * Current SDKs leave out `models/` where the id has a slash, or send `/v1`.
 */
import { GatewayError } from "../../base/errors.ts";
import { pathOf, type RawRequest } from "../path.ts";

/** The percent-decoded rest of a path after its version prefix and `models/`. @throws GatewayError `malformed_request` on a bad escape. */
export function modelPathTail(request: RawRequest): string {
  try {
    return decodeURIComponent(pathOf(request).replace(/^\/v1(?:beta)?\/(?:models\/)?/, ""));
  } catch {
    throw new GatewayError("malformed_request", "The path has a malformed percent-escape.");
  }
}

/** @throws GatewayError `not_found` when the path has no method. */
export function parseModelPath(request: RawRequest): { model: string; method: string } {
  const tail = modelPathTail(request);
  const colon = tail.lastIndexOf(":");
  if (colon <= 0) {
    throw new GatewayError(
      "not_found",
      "The path needs a model and a method, as in /v1beta/models/{model}:generateContent.",
    );
  }
  return { model: tail.slice(0, colon), method: tail.slice(colon + 1) };
}
