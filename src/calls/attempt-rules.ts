/**
 * What holds for each attempt of a call, not only for its plan: a fallback answers with nothing that the caller's layers do
 * not allow (T74), also where the configuration changed while the call was under way. Design section 7.
 */
import { permits } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import type { CallContext } from "./context.ts";
import type { Candidate } from "./prepare.ts";

/** Whether the caller's scope lets this candidate answer, by the configuration of this moment. */
export function mayAttempt(context: CallContext, { provider }: Candidate): boolean {
  const { services, call, record } = context;
  return permits(routingScope(call.caller), services.catalog(), record.model, provider.id);
}
