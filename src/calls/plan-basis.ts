/** The inputs that all plans of one call share, whichever model they are for. docs/routing.md. */
import type { PlanInput } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import type { AnyCall, TextServices } from "./context.ts";

/** @param affinity the session in the body: `prompt_cache_key`, else the end-user id. Without one, the session's header counts. */
export const planBasis = (
  { health }: Pick<TextServices, "health">,
  { caller, session }: Pick<AnyCall, "caller" | "session">,
  affinity: string | undefined,
): Pick<PlanInput, "scope" | "affinity" | "random" | "health"> => ({
  scope: routingScope(caller),
  affinity: affinity ?? session,
  random: Math.random,
  health,
});
