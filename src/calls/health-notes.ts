/** How the attempts of calls that are answered at once reach health: the outcome table's word, and the speed of answers. docs/routing.md. */
import { GatewayError } from "../base/errors.ts";
import type { Health, HealthAttempt } from "../routing/index.ts";
import { BadAnswerError, ExchangeError, outcomeOfFailure } from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import type { Attempt } from "./record.ts";

/**
 * Notes what was thrown while an answer was awaited or read. A stream that broke after its first frame is thrown as an
 * error of ours with the provider's failure as its cause; what else is thrown is not the provider's.
 */
export function noteThrown(health: Health, attempt: HealthAttempt, thrown: unknown): void {
  const cause = thrown instanceof GatewayError ? thrown.cause : thrown;
  if (cause instanceof ExchangeError || cause instanceof BadAnswerError)
    health.unanswered(attempt, outcomeOfFailure(cause));
  else health.undecided(attempt);
}

/** Notes an answer, and how fast it came. */
export function noteSuccess(
  { services, record, call }: CallContext,
  attempt: HealthAttempt,
  { started_ms: startedMs }: Attempt,
): void {
  const { firstTokenMs, metered } = record;
  if (firstTokenMs === null) return services.health.succeeded(attempt);
  const isWhole = record.status === "succeeded";
  services.health.succeeded(attempt, {
    stream: call.stream,
    firstTokenMs: firstTokenMs - startedMs,
    durationMs: services.clock.now() - record.startedMs - startedMs,
    outputTokens: isWhole ? metered?.usage.outputTokens : undefined,
  });
}
