/** The only error that the gateway throws on purpose, with a code of the catalogue. Requirements: ERR. */
import { errorCatalogue, type ErrorCode, type ErrorType } from "./error-catalogue.ts";
import { isShortage } from "./shortage.ts";

export { errorCatalogue, type ErrorCode, type ErrorType } from "./error-catalogue.ts";

interface ErrorExtra {
  /** Dotted path of the offending field, in the caller's own spelling. */
  readonly param?: string | undefined;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfterSeconds?: number | undefined;
  /** Replaces the catalogue's status where an upstream's own status is passed on. */
  readonly status?: number | undefined;
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** False adds `x-should-retry: false`, for calls that a client must not retry automatically. */
  readonly shouldRetry?: boolean | undefined;
  /** Further members of `error.details` besides the code, in the only protocol that has such a place (messages). */
  readonly details?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly cause?: unknown;
}

/** The only error the gateway throws on purpose. Rendered in the caller's protocol by `encodeError`. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: ErrorType;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly shouldRetry: boolean | undefined;
  readonly details: ErrorExtra["details"];
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, message: string, extra: ErrorExtra = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "GatewayError";
    this.code = code;
    this.status = extra.status ?? errorCatalogue[code].status;
    this.type = errorCatalogue[code].type;
    this.param = extra.param ?? null;
    this.retryAfterSeconds = extra.retryAfterSeconds;
    this.shouldRetry = extra.shouldRetry;
    this.details = extra.details;
    this.headers = extra.headers;
  }
}

/** Returns the refusal of a field's value. `rule` says what it must be; `param` is the caller's name of the field. */
export const invalidValue = (param: string, rule: string): GatewayError =>
  new GatewayError("invalid_value", `\`${param}\` ${rule}.`, { param });

/** Returns the refusal of a field of an image, a video or a task: its name, and why. */
export const refusal = (code: ErrorCode, param: string, why: string): GatewayError =>
  new GatewayError(code, `${param}: ${why}.`, { param });

/** Returns the message of anything that was thrown. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Seconds after which a shortage of the gateway itself has usually passed. */
const shortageSeconds = 2;

/** Returns the error of a gateway that is at a limit. `cause` is the system's error, for the log. */
export const overloaded = (message: string, cause?: unknown): GatewayError =>
  new GatewayError("overloaded", message, { retryAfterSeconds: shortageSeconds, cause });

/**
 * Converts anything that was thrown to a GatewayError. A shortage of this machine becomes `overloaded`, any other unknown fault
 * `internal_error`; its text is kept only as the cause.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isShortage(error))
    return overloaded("The gateway is short of open files or connections now.", error);
  return new GatewayError("internal_error", "The gateway failed to handle this request.", {
    cause: error,
  });
}
