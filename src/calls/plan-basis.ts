/** The inputs that all plans of one call share, whichever model they are for. docs/routing.md. */
import type { PlanInput } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import type { AnyCall, TextServices } from "./context.ts";

/** @param inBody the session in the body: `prompt_cache_key`, else the end-user id. Without one, the session's header counts. */
export const planBasis = (
  { health }: Pick<TextServices, "health">,
  { caller, session }: Pick<AnyCall, "caller" | "session">,
  inBody: string | undefined,
): Pick<PlanInput, "scope" | "session" | "random" | "health"> => ({
  scope: routingScope(caller),
  session: inBody ?? session,
  random: Math.random,
  health,
});
