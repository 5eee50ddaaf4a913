/** Errors in the responses protocol: before a stream, within one, and as upstreams spell them. Requirements: ERR. */
import type { GatewayError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject, encodeErrorObject } from "../error-object.ts";

export const encodeError = encodeErrorObject;

/** An upstream's error body, or the failed response object that some send with status 200. Never throws. */
export function decodeError(status: number, body: unknown): WireError {
  const failed = isObject(body) && isObject(body["response"]) ? body["response"] : body;
  return decodeErrorObject(status, failed);
}

/**
 * The `error` of a failed response object. Its codes are a closed list at OpenAI; ours that are not on it stay
 * readable in the message. `context_length_exceeded` is not on the list, but OpenAI sends it, and agents act on it.
 */
export function responseError({ code, message }: GatewayError): JsonObject {
  return { code: keptCodes.has(code) ? code : "server_error", message };
}

const keptCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "context_length_exceeded"]);

/** The data of an `error` event in both dialects at once: OpenAI's flat keys and Open Responses' nested object. */
export function errorEvent(error: GatewayError, sequenceNumber: number): JsonObject {
  return {
    type: "error",
    sequence_number: sequenceNumber,
    code: error.code,
    message: error.message,
    param: error.param,
    ...encodeErrorObject(error),
  };
}
