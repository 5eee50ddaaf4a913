/** What is thrown while a request is served, as its answer: in the caller's protocol, and logged where it is our fault. Spec: "Errors". */
import { GatewayError, toGatewayError } from "../base/errors.ts";
import { TextCallError } from "../calls/index.ts";
import type { RequestHead, ResponseSink } from "./exchange.ts";
import { pathOf } from "./path.ts";
import { protocolOfPath, writeError } from "./reply-error.ts";
import type { HttpServices } from "./services.ts";

/** One request, and where its answer goes. */
export interface Asked {
  readonly raw: RequestHead;
  readonly response: ResponseSink;
  /** The request's id, which its answer and its logs carry. */
  readonly id: string;
}

type FailureServices = Pick<HttpServices, "log" | "bodyBytesMax">;

/** Answers with the error that was thrown, unless an answer has begun. */
export function answerFailure(services: FailureServices, asked: Asked, thrown: unknown): void {
  const refused = thrown instanceof TextCallError ? thrown : undefined;
  const error = refused?.error ?? fromFastify(thrown, services.bodyBytesMax);
  if (!refused && error.code === "internal_error")
    services.log.error({ err: thrown, request: asked.id }, "a request failed");
  writeError(asked.response, {
    protocol: protocolOfPath(asked.raw.method ?? "", pathOf(asked)),
    error,
    requestId: asked.id,
    body: refused?.body,
  });
}

/** The refusal of a body above the limit. */
export function bodyTooLarge(bodyBytesMax: number): GatewayError {
  const megabytes = Math.floor(bodyBytesMax / 1_048_576);
  return new GatewayError(
    "request_too_large",
    `The body is larger than ${megabytes} MB (limits.body_mb).`,
  );
}

/** What is left of the client's faults: a body that does not have the length it was announced with, or that broke off. */
export const brokenBody = (): GatewayError =>
  new GatewayError("malformed_request", "The request could not be read to its end.");

/** Fastify's own errors in our catalogue. */
function fromFastify(error: unknown, bodyBytesMax: number): GatewayError {
  if (error instanceof GatewayError) return error;
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return bodyTooLarge(bodyBytesMax);
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new GatewayError(
      "unsupported_media_type",
      "The Content-Type is malformed; send application/json.",
    );
  if (code === "FST_ERR_BAD_URL")
    return new GatewayError("malformed_request", "The path has a malformed percent-escape.");
  return isClientFault(error) ? brokenBody() : toGatewayError(error);
}

const isClientFault = (error: unknown): boolean =>
  error instanceof Error &&
  "statusCode" in error &&
  typeof error.statusCode === "number" &&
  error.statusCode >= 400 &&
  error.statusCode < 500;
