/**
 * Errors in the messages protocol's shape, written and read. Requirements: ERR, TXT-22.
 * The type follows the HTTP status as the vendor's own types do; our stable code stands in `details.error_code`.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject, tellTooLong } from "../error-object.ts";

const typeByStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** `error.type` for an HTTP status: what an SDK of this protocol makes its exception class of. */
function errorType(status: number): string {
  return typeByStatus[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/** `{type: "error", error: {type, message, details}, request_id}`. */
export function encodeError(error: GatewayError, requestId: string): JsonObject {
  const details: JsonObject = {
    ...(error.details as JsonObject | undefined),
    error_code: error.code,
  };
  if (error.param !== null) details["param"] = error.param;
  return {
    type: "error",
    error: {
      type: errorType(error.status),
      message: tellTooLong(error, "prompt is too long"),
      details,
    },
    request_id: requestId,
  };
}

/** An upstream's error body, or the data of its error event, whatever its quirks. Never throws. */
export function decodeError(status: number, body: unknown): WireError {
  const base = decodeErrorObject(status, body);
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const details = isObject(error["details"]) ? error["details"] : {};
  const code = details["error_code"];
  // The outer `type` is the word "error", the shape's own mark, and says nothing.
  const type = base.type === "error" ? undefined : base.type;
  return { ...base, type, code: typeof code === "string" ? code : base.code };
}
