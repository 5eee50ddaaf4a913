/** Answers with errors thrown while a request is served: in the caller's protocol, and logged if the fault is ours. Requirements: ERR. */
import { IncomingMessage } from "node:http";
import { throttleCounter } from "../../base/throttle-counter.ts";
import { GatewayError, toGatewayError } from "../../base/errors.ts";
import { CallError } from "../../calls/index.ts";
import { isTransient } from "../../storage/index.ts";
import type { RequestContext } from "../exchange.ts";
import { styleOf } from "../routes.ts";
import { incompleteBodyError } from "../bodies/body-limits.ts";
import { discardBody } from "../bodies/paced.ts";
import { writeError } from "./reply-error.ts";
import type { HttpServices } from "../services.ts";

type FailureServices = Pick<HttpServices, "log"> & Partial<Pick<HttpServices, "load">>;

/** Answers with the thrown error, unless an answer has begun. */
export function answerFailure(
  services: FailureServices,
  context: RequestContext,
  thrown: unknown,
): void {
  if (context.raw instanceof IncomingMessage) discardBody(context.raw);
  const refused = thrown instanceof CallError ? thrown : undefined;
  const error =
    refused?.error ??
    blameLoad(services, context, asDatabaseUnavailable(context, fromFastify(thrown)));
  if (!refused && error.code === "internal_error")
    services.log.error({ err: thrown, request: context.id }, "a request failed");
  if (error.code === "overloaded") logShortage(services, error);
  if (error.code === "database_unavailable" && managed.test(context.match.path))
    services.log.warn({ err: error.cause, request: context.id }, "the database did not answer");
  writeError(context.response, {
    style: styleOf(context.match, context.raw.headers),
    error,
    requestId: context.id,
    body: refused?.body,
  });
}

const managed = /^\/(?:admin|auth)\//;

/**
 * Reports an unavailable database, for the management API and sign-in. Callers' own calls report it themselves, with what it means for
 * their charge.
 */
function asDatabaseUnavailable({ match, raw }: RequestContext, error: GatewayError): GatewayError {
  const { code, cause } = error;
  if (code !== "internal_error" || !managed.test(match.path) || !isTransient(cause)) return error;
  const more = raw.method === "GET" ? "" : " Look whether it was done before you send it again.";
  const extra = { retryAfterSeconds: 1, cause };
  return new GatewayError(
    "database_unavailable",
    `The database does not answer now.${more}`,
    extra,
  );
}

/**
 * For text calls, reports this process's lateness in place of a database error. Not for tasks: a task may have been accepted all the
 * same.
 */
const blameLoad = (
  { load }: FailureServices,
  { match }: RequestContext,
  error: GatewayError,
): GatewayError => (match.route.protocol !== undefined && load?.explain(error)) || error;

const shortageLogMs = 1_000;
const shortages = throttleCounter(shortageLogMs);

/** Logs at most once a second: a shortage meets many requests at once, and logging each would make it worse. */
function logShortage({ log }: Pick<FailureServices, "log">, error: GatewayError): void {
  if (error.cause !== undefined && shortages() !== undefined)
    log.warn({ err: error.cause }, "the gateway is short of open files, ports or buffers");
}

/** Converts Fastify's own errors to our catalogue. */
function fromFastify(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const code =
    typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE")
    return new GatewayError(
      "unsupported_media_type",
      "The Content-Type is malformed; send application/json.",
    );
  if (code === "FST_ERR_BAD_URL")
    return new GatewayError("malformed_request", "The path has a malformed percent-escape.");
  return isClientFault(error) ? incompleteBodyError() : toGatewayError(error);
}

const isClientFault = (error: unknown): boolean =>
  error instanceof Error &&
  "statusCode" in error &&
  typeof error.statusCode === "number" &&
  error.statusCode >= 400 &&
  error.statusCode < 500;
