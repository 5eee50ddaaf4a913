/**
 * Plans that are the same for every call: where a scope leaves one offer, neither chance nor a session nor health changes anything.
 * Kept for as long as the caller's scope lives and the catalogue does not change.
 */
import type { Catalog } from "../catalog/index.ts";
import type { PlanInput, Plan } from "./plan.ts";
import type { RoutingScope } from "./scope.ts";

type AnyPlan = Pick<Plan, "explanation">;

interface Plans {
  readonly catalog: Catalog;
  readonly byRequest: Map<string, AnyPlan>;
}

const plansMax = 1_000;
const scopes = new WeakMap<RoutingScope, Plans>();

/** What of a request a plan with one offer depends on. */
const nameOf = ({ entryPoint, parsed, affinity }: PlanInput): string =>
  `${entryPoint} ${parsed.model}:${parsed.provider ?? ""}:${parsed.strategy ?? ""} ${affinity ? "held" : ""}`;

/** The plan that was kept for this input, else the one `make` gives, kept where it lasts: the next call would get the same. */
export function keptPlan<Made extends AnyPlan>(
  input: PlanInput,
  make: () => { readonly plan: Made; readonly lasting: boolean },
): Made {
  const known = scopes.get(input.scope);
  const name = nameOf(input);
  const kept = known?.catalog === input.catalog ? known.byRequest.get(name) : undefined;
  // Kept under the same entry point, so of the same kind.
  if (kept) return kept as Made;
  const { plan, lasting } = make();
  if (lasting) keep(input, name, plan);
  return plan;
}

function keep({ scope, catalog }: PlanInput, name: string, made: AnyPlan): void {
  let plans = scopes.get(scope);
  if (plans?.catalog !== catalog || plans.byRequest.size >= plansMax) {
    plans = { catalog, byRequest: new Map() };
    scopes.set(scope, plans);
  }
  plans.byRequest.set(name, made);
}
