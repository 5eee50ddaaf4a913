/**
 * What holds for each attempt of a call, not only for its plan: a fallback answers with nothing that the caller's layers do
 * not allow (T74), also where the configuration changed while the call was under way. docs/routing.md.
 */
import { GatewayError } from "../base/errors.ts";
import { permits } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import type { CallContext } from "./context.ts";
import type { Candidate } from "./prepare.ts";

/**
 * Whether the caller's scope lets this candidate answer, by the configuration of this moment, and the request can be
 * converted for it: what only a fallback cannot take is no error of the caller's.
 */
export function mayAttempt(context: CallContext, candidate: Candidate): boolean {
  const { services, call, record } = context;
  const { provider } = candidate;
  return (
    permits(routingScope(call.caller), services.catalog(), record.model, provider.id) &&
    isConvertible(candidate)
  );
}

function isConvertible(candidate: Candidate): boolean {
  try {
    candidate.route();
    return true;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}
