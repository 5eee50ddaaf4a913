/**
 * Plans that are the same for every call: where a scope leaves one offer, neither chance nor a session nor health changes anything.
 * Kept for as long as the caller's scope lives and the catalogue does not change.
 */
import type { Catalog } from "../catalog/index.ts";
import type { RoutingScope } from "./scope.ts";

/** What plans are kept for. */
interface Basis {
  readonly catalog: Catalog;
  readonly scope: RoutingScope;
}

interface Plans {
  readonly catalog: Catalog;
  readonly byName: Map<string, object>;
}

const plansMax = 1_000;
const scopes = new WeakMap<RoutingScope, Plans>();

/**
 * The plan that was kept under `name`, else the one `make` gives, kept where it lasts: the next call would get the same.
 * A name tells all of a request that a plan with one offer depends on, and what kind of plan it is.
 */
export function keptPlan<Made extends object>(
  { catalog, scope }: Basis,
  name: string,
  make: () => { readonly plan: Made; readonly lasting: boolean },
): Made {
  const known = scopes.get(scope);
  const kept = known?.catalog === catalog ? known.byName.get(name) : undefined;
  if (kept) return kept as Made;
  const { plan, lasting } = make();
  if (lasting) keep({ catalog, scope }, name, plan);
  return plan;
}

function keep({ catalog, scope }: Basis, name: string, made: object): void {
  let plans = scopes.get(scope);
  if (plans?.catalog !== catalog || plans.byName.size >= plansMax) {
    plans = { catalog, byName: new Map() };
    scopes.set(scope, plans);
  }
  plans.byName.set(name, made);
}
