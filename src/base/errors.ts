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
  /** False adds `x-should-retry: false`, for what must not be sent again by itself. */
  readonly shouldRetry?: boolean | undefined;
  /** What `error.details` holds beside the code, in the one protocol that has such a place (messages). */
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

/** A refusal of one field's value: `rule` says what it must be. `param` is the caller's name of the field. */
export const invalidValue = (param: string, rule: string): GatewayError =>
  new GatewayError("invalid_value", `\`${param}\` ${rule}.`, { param });

/** The refusal of a field of an image, a video or a task: its name, and why. */
export const refusal = (code: ErrorCode, param: string, why: string): GatewayError =>
  new GatewayError(code, `${param}: ${why}.`, { param });

/** What whatever was thrown says. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Seconds after which a shortage of the gateway's own has usually passed. */
const shortageSeconds = 2;

/** The answer where the gateway itself is at a limit. `cause` is what the system said, for the log. */
export const overloaded = (message: string, cause?: unknown): GatewayError =>
  new GatewayError("overloaded", message, { retryAfterSeconds: shortageSeconds, cause });

/**
 * Whatever was thrown, as a GatewayError: a shortage of this machine's becomes `overloaded`, any other unknown fault
 * `internal_error`; the text is kept as the cause only.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (isShortage(error))
    return overloaded("The gateway is short of open files or connections now.", error);
  return new GatewayError("internal_error", "The gateway failed to handle this request.", {
    cause: error,
  });
}
