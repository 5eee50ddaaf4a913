/** Errors on the wire: the body in the caller's own protocol, and the headers that tell a client whether to retry. */
import type { GatewayError } from "../../base/errors.ts";
import { errorCodec } from "../../protocols/index.ts";
import { encodeAliasError } from "./alias-errors.ts";
import type { ResponseSink } from "../exchange.ts";
import type { ErrorStyle } from "../routes.ts";

/**
 * The headers of an error answer. `x-should-retry: false` tells SDKs not to retry. No shared cache may store the answer: it may depend
 * on one caller's rights, or on unusual headers of one request. RFC 9110, 15.1.
 */
function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers, "cache-control": "no-store" };
  if (error.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.shouldRetry === false) headers["x-should-retry"] = "false";
  if (error.status === 401) {
    headers["www-authenticate"] = "Bearer";
    // The same key would be refused again, and Claude Code would retry eleven times, silent for minutes.
    headers["x-should-retry"] = "false";
  }
  return headers;
}

interface ErrorAnswer {
  readonly style: ErrorStyle;
  readonly error: GatewayError;
  readonly requestId: string;
  /** The upstream's own body, passed on unchanged. */
  readonly body?: object | undefined;
}

/** Returns the headers and the body of an error answer. */
export function errorAnswer(answer: ErrorAnswer): {
  headers: Record<string, string>;
  text: string;
} {
  const { style, error, requestId } = answer;
  const text = JSON.stringify(answer.body ?? encodeError(style, error, requestId));
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    ...requestIdHeaders(style, requestId),
    ...errorHeaders(error),
  };
  return { headers, text };
}

/** Returns an error's body in the shape of `style`. */
export function encodeError(style: ErrorStyle, error: GatewayError, requestId: string): object {
  return style === "dashscope" || style === "ark"
    ? encodeAliasError(style, error, requestId)
    : errorCodec(style).encodeError(error, requestId);
}

/** Writes a whole error answer, unless an answer has begun. */
export function writeError(raw: ResponseSink, answer: ErrorAnswer): void {
  if (raw.headersSent || raw.destroyed) return;
  const { headers, text } = errorAnswer(answer);
  raw.writeHead(answer.error.status, headers);
  raw.end(text);
}

/** The request's id, under the header names that the protocols' SDKs read. */
export function requestIdHeaders(style: ErrorStyle, requestId: string): Record<string, string> {
  return style === "messages"
    ? { "x-request-id": requestId, "request-id": requestId }
    : { "x-request-id": requestId };
}
