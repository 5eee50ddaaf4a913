/** Errors of the responses protocol: before a stream, in a stream, and in the spelling of upstreams. Requirements: ERR. */
import type { GatewayError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject, encodeErrorObject, openAiMessage } from "../error-object.ts";

export const encodeError = encodeErrorObject;

/** Decodes an upstream's error body, or the failed response object that some vendors send with status 200. Never throws. */
export function decodeError(status: number, body: unknown): WireError {
  const failed = isObject(body) && isObject(body["response"]) ? body["response"] : body;
  return decodeErrorObject(status, failed);
}

/**
 * Encodes the `error` of a failed response object. OpenAI's codes are a closed list; other codes of the gateway remain readable in the
 * message. OpenAI sends `context_length_exceeded` although it is not on the list, and agents act on it. `invalid_prompt` is its code for a
 * refused request: Codex sends the same call up to five times more after any code that it does not know.
 */
export function responseError(error: GatewayError): JsonObject {
  const { code, status } = error;
  const theirs = status < 500 ? "invalid_prompt" : "server_error";
  return { code: keptCodes.has(code) ? code : theirs, message: openAiMessage(error) };
}

const keptCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "context_length_exceeded"]);

/** Returns the members of an `error` event in both dialects at once: OpenAI's flat keys and Open Responses' nested object. */
export function errorMembers(error: GatewayError): JsonObject {
  const { code, param } = error;
  return { code, message: openAiMessage(error), param, ...encodeErrorObject(error) };
}
