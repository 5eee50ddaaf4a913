/** The inputs that all plans of one call share, whichever model they are for. docs/routing.md. */
import type { PlanInput } from "../routing/index.ts";
import { routingScope } from "../tenancy/index.ts";
import type { AnyCall, TextServices } from "./context.ts";

/** @param affinity the value that the calls of one session share: `prompt_cache_key`, else the end-user id */
export const planBasis = (
  { health }: Pick<TextServices, "health">,
  { caller }: Pick<AnyCall, "caller">,
  affinity: string | undefined,
): Pick<PlanInput, "scope" | "affinity" | "random" | "health"> => ({
  scope: routingScope(caller),
  affinity,
  random: Math.random,
  health,
});
