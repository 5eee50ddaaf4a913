/**
 * Encodes and decodes errors of the generateContent protocol (google.rpc.Status). Requirements: ERR, TXT-22. gRPC has no status for
 * payment, so the gateway's stable code goes into `details[0].reason`, in upper case like the vendor's.
 */
import type { GatewayError } from "../../base/errors.ts";
import { isObject, type WireObject } from "../../base/json.ts";
import type { SseEvent } from "../../base/sse.ts";
import type { JsonObject } from "../canonical/request.ts";
import type { WireError } from "../codec.ts";
import { decodeErrorObject } from "../error-object.ts";
import { nonEmpty } from "../read.ts";
import { googleWords, messageInWords } from "../too-long-words.ts";

const rpcStatusByHttp: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const rpcStatus = (status: number): string =>
  rpcStatusByHttp[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");

/** Returns `{error: {code, message, status, details: [ErrorInfo, RetryInfo?]}}`. */
export function encodeError(error: GatewayError, requestId: string): JsonObject {
  const metadata: JsonObject = {};
  if (error.param !== null) metadata["param"] = error.param;
  if (requestId !== "") metadata["request_id"] = requestId;
  const details: JsonObject[] = [
    {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: error.code.toUpperCase(),
      domain: "tollgate",
      metadata,
    },
  ];
  if (error.retryAfterSeconds !== undefined) {
    details.push({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: `${error.retryAfterSeconds}s`,
    });
  }
  const { status } = error;
  const message = messageInWords(error, googleWords);
  return { error: { code: status, message, status: rpcStatus(status), details } };
}

/**
 * Returns the last frame of a broken stream. The vendor sends the bare object. `@google/genai` 1, LangChain and LlamaIndex expect that:
 * they take any frame for a piece of the answer, and its end for a normal one. So the object is also sent bare after the frame, where event
 * readers skip it.
 */
export function errorFrame(error: GatewayError): SseEvent {
  const data = JSON.stringify(encodeError(error, ""));
  return { data, tail: data };
}

/**
 * Decodes an upstream's error body, or the error chunk of a stream, in any shape (without `alt=sse` the vendor sends an array of one).
 * Never throws.
 */
export function decodeError(status: number, body: unknown): WireError {
  const base = decodeErrorObject(status, body);
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) && isObject(outer["error"]) ? outer["error"] : undefined;
  if (!error) return base;
  const details = Array.isArray(error["details"]) ? error["details"].filter(isObject) : [];
  return {
    message: base.message,
    type: nonEmpty(error["status"]) ?? base.type,
    code: firstWord(details, "reason") ?? nonEmpty(error["status"]) ?? base.code,
    param: fieldViolation(details) ?? base.param,
    retryAfterSeconds: retryDelay(details),
  };
}

function firstWord(details: readonly WireObject[], key: string): string | undefined {
  for (const detail of details) {
    const value = nonEmpty(detail[key]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** google.rpc.RetryInfo: seconds followed by "s"; the vendor sends no Retry-After header. */
function retryDelay(details: readonly WireObject[]): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(firstWord(details, "retryDelay") ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** google.rpc.BadRequest names the offending field. */
function fieldViolation(details: readonly WireObject[]): string | undefined {
  for (const { fieldViolations } of details) {
    if (!Array.isArray(fieldViolations)) continue;
    const field = firstWord(fieldViolations.filter(isObject), "field");
    if (field !== undefined) return field;
  }
  return undefined;
}
