/** The errors that the `openai` SDK throws: the same on both of its endpoints. Requirements: ERR. */
import { expect } from "vitest";
import type { FailureName } from "./scenarios.ts";

interface OpenaiError extends Error {
  readonly status?: number;
  readonly headers?: Headers;
}

/** The error's own fields, and the header that says when to retry. */
export const openaiFields = (error: Error): object => ({
  ...Object.fromEntries(Object.entries(error)),
  message: error.message,
  retryAfter: (error as OpenaiError).headers?.get("retry-after"),
  shouldRetry: (error as OpenaiError).headers?.get("x-should-retry"),
});

const requestID = expect.stringMatching(/^req_/);

/** Each failure as this SDK throws it. `code` and `type` are the gateway's, except for the vendor's refusal. */
export const openaiFailures: Readonly<Record<FailureName, object>> = {
  "wrong key": {
    class: "AuthenticationError",
    status: 401,
    code: "invalid_api_key",
    type: "authentication_error",
    param: null,
    requestID,
  },
  "no balance": {
    class: "APIError",
    status: 402,
    code: "insufficient_balance",
    type: "insufficient_quota",
    param: null,
    requestID,
    shouldRetry: "false",
    retryAfter: null,
  },
  "unknown model": {
    class: "NotFoundError",
    status: 404,
    code: "model_not_found",
    type: "not_found_error",
    param: "model",
    requestID,
  },
  "bad value": {
    class: "BadRequestError",
    status: 400,
    type: "invalid_request_error",
    param: "temperature",
    requestID,
  },
  "refused upstream": {
    class: "BadRequestError",
    status: 400,
    type: "invalid_request_error",
    message: "400 Not in this house.",
    requestID,
  },
  "rate limited": {
    class: "RateLimitError",
    status: 429,
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    retryAfter: "7",
    requestID,
  },
  overloaded: {
    class: "InternalServerError",
    status: 503,
    code: "no_provider_available",
    type: "overloaded_error",
    retryAfter: "9",
    requestID,
  },
  "broken stream": { class: "APIError", code: "upstream_error", type: "upstream_error" },
};
