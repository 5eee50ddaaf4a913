/**
 * Encodes and decodes errors of the messages protocol. Requirements: ERR, TXT-22. The type follows the HTTP status like the vendor's; the
 * gateway's stable code is in `details.error_code`.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject } from "../error-object.ts";
import { anthropicWords, messageInWords } from "../too-long-words.ts";

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

/** Returns `error.type` for an HTTP status; SDKs choose their exception class by it. */
function errorType(status: number): string {
  return typeByStatus[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

/**
 * The vendor's words for media that it cannot use. Claude Code takes the media out of its conversation if it reads them, and goes on.
 * Otherwise every later call of its session fails too, because the media stays in the history.
 */
const refusedMedia: Readonly<Record<string, string>> = {
  "messages.content.image": "Could not process image",
  "messages.content.document": "Could not process PDF",
};

function messageOf(error: GatewayError): string {
  const words = error.code === "unsupported_content" && refusedMedia[error.param ?? ""];
  return words ? `${words}: ${error.message}` : messageInWords(error, anthropicWords);
}

/** Returns `{type: "error", error: {type, message, details}, request_id}`. */
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
      message: messageOf(error),
      details,
    },
    request_id: requestId,
  };
}

/** Decodes an upstream's error body, or the data of its error event, in any shape. Never throws. */
export function decodeError(status: number, body: unknown): WireError {
  const base = decodeErrorObject(status, body);
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const details = isObject(error["details"]) ? error["details"] : {};
  const code = details["error_code"];
  // The outer `type` is always "error" and has no meaning.
  const type = base.type === "error" ? undefined : base.type;
  return { ...base, type, code: typeof code === "string" ? code : base.code };
}
