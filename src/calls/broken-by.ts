/**
 * Explains to a caller why an answer that had begun broke off. A refusal keeps its code, and so do a rate limit and an overload: callers
 * act on them. T16.
 */
import { GatewayError, type ErrorCode } from "../base/errors.ts";
import { outcomeOfFailure, BadAnswerError, type ExchangeError } from "../upstream/index.ts";

/** Returns the error for the caller of an answer that had begun. */
export function brokenBy(cause: ExchangeError | BadAnswerError): GatewayError {
  const refusal = cause instanceof BadAnswerError ? cause.refusal : undefined;
  if (refusal) return new GatewayError(refusal.code, refusal.message, { cause });
  const { code } = outcomeOfFailure(cause).error;
  const why = waitReasons.get(code);
  const broken = "The provider broke off in the middle of its answer";
  return why === undefined
    ? new GatewayError("upstream_error", `${broken}.`, { cause })
    : new GatewayError(code, `${broken}: ${why}.`, { cause });
}

const waitReasons: ReadonlyMap<ErrorCode, string> = new Map([
  ["rate_limit_exceeded", "it limits its rate now"],
  ["no_provider_available", "it is overloaded now"],
]);
