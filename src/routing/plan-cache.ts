/**
 * Cache of plans that are the same for every call. If a scope leaves one offer, chance, sessions and health change nothing. A plan is
 * cached as long as the caller's scope object lives and the catalogue does not change.
 */
import type { Catalog } from "../catalog/index.ts";
import type { RoutingScope } from "./scope.ts";

/** The objects that a cached plan depends on. */
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
 * Returns the plan cached under `name`, or calls `make` and caches its plan if `lasting`: the next call would get the same one. `name` must
 * contain the kind of plan, and all parts of a request that a plan with one offer depends on.
 */
export function cachedPlan<Made extends object>(
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
