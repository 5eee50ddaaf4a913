/** Answers with errors thrown while a request is served: in the caller's protocol, and logged if the fault is ours. Requirements: ERR. */
import { IncomingMessage } from "node:http";
import { atIntervals } from "../../base/at-intervals.ts";
import { GatewayError, toGatewayError } from "../../base/errors.ts";
import { CallError } from "../../calls/index.ts";
import { isTransient } from "../../storage/index.ts";
import type { Asked } from "../exchange.ts";
import { styleOf } from "../routes.ts";
import { brokenBody } from "../bodies/body-limits.ts";
import { forgetBody } from "../bodies/paced.ts";
import { writeError } from "./reply-error.ts";
import type { HttpServices } from "../services.ts";

type FailureServices = Pick<HttpServices, "log"> & Partial<Pick<HttpServices, "load">>;

/** Answers with the thrown error, unless an answer has begun. */
export function answerFailure(services: FailureServices, asked: Asked, thrown: unknown): void {
  if (asked.raw instanceof IncomingMessage) forgetBody(asked.raw);
  const refused = thrown instanceof CallError ? thrown : undefined;
  const error = refused?.error ?? toldOf(services, asked, awayOf(asked, fromFastify(thrown)));
  if (!refused && error.code === "internal_error")
    services.log.error({ err: thrown, request: asked.id }, "a request failed");
  if (error.code === "overloaded") logShortage(services, error);
  if (error.code === "database_unavailable" && managed.test(asked.match.path))
    services.log.warn({ err: error.cause, request: asked.id }, "the database did not answer");
  writeError(asked.response, {
    style: styleOf(asked.match, asked.raw.headers),
    error,
    requestId: asked.id,
    body: refused?.body,
  });
}

const managed = /^\/(?:admin|auth)\//;

/**
 * Reports an unavailable database, for the management API and sign-in. Callers' own calls report it themselves, with what it means for
 * their charge.
 */
function awayOf({ match, raw }: Asked, error: GatewayError): GatewayError {
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
const toldOf = ({ load }: FailureServices, { match }: Asked, error: GatewayError): GatewayError =>
  (match.route.protocol !== undefined && load?.told(error)) || error;

const shortageLogMs = 1_000;
const shortages = atIntervals(shortageLogMs);

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
  return isClientFault(error) ? brokenBody() : toGatewayError(error);
}

const isClientFault = (error: unknown): boolean =>
  error instanceof Error &&
  "statusCode" in error &&
  typeof error.statusCode === "number" &&
  error.statusCode >= 400 &&
  error.statusCode < 500;
