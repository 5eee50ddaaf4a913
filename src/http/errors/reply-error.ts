/** Errors on the wire: the body in the caller's own protocol, and the headers that tell a client what to do next. */
import type { GatewayError } from "../../base/errors.ts";
import { errorCodec } from "../../protocols/index.ts";
import { encodeAliasError } from "./alias-errors.ts";
import type { ResponseSink } from "../exchange.ts";
import type { ErrorStyle } from "../routes.ts";

/**
 * The headers of an error answer. `x-should-retry: false` is for what must not be sent again by itself. No cache on the way keeps
 * it for others: what was refused may be one caller's rights, or headers that nobody else sends. RFC 9110, 15.1.
 */
function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { ...error.headers, "cache-control": "no-store" };
  if (error.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.shouldRetry === false) headers["x-should-retry"] = "false";
  if (error.status === 401) {
    headers["www-authenticate"] = "Bearer";
    // The same key is refused again, and Claude Code would ask eleven times, silent for minutes.
    headers["x-should-retry"] = "false";
  }
  return headers;
}

interface ErrorAnswer {
  readonly style: ErrorStyle;
  readonly error: GatewayError;
  readonly requestId: string;
  /** An upstream's own body, passed on as it is. */
  readonly body?: object | undefined;
}

/** The headers and the body of an error answer. */
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

/** An error's body in one of the shapes. */
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

/** The request's id under the names that the protocols' SDKs read. */
export function requestIdHeaders(style: ErrorStyle, requestId: string): Record<string, string> {
  return style === "messages"
    ? { "x-request-id": requestId, "request-id": requestId }
    : { "x-request-id": requestId };
}
